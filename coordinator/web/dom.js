// Elements in one line: h("p.soft", "text"), h("a", { href: "/" }, "home"), svg("path", { d }).

const SVG = "http://www.w3.org/2000/svg";

function build(element, parts) {
  for (const part of parts.flat(Infinity)) {
    if (part === null || part === undefined || part === false) continue;
    if (part instanceof Node) element.append(part);
    else if (typeof part === "object") attributes(element, part);
    else element.append(String(part));
  }
  return element;
}

function attributes(element, values) {
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "class" && element.getAttribute("class")) element.classList.add(...value.split(" ").filter(Boolean));
    else element.setAttribute(name, value === true ? "" : value);
  }
}

function named(namespace, name) {
  const [tag, ...classes] = name.split(".");
  const element = namespace ? document.createElementNS(namespace, tag) : document.createElement(tag);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  return element;
}

/** An HTML element. Objects are attributes (functions: listeners), everything else is content. */
export const h = (name, ...parts) => build(named(null, name), parts);

/** The same for SVG. */
export const svg = (name, ...parts) => build(named(SVG, name), parts);

/** A table; a column is { title, number, wide, wrap }, a row a list of cells or { cells, marked }. */
export function table(columns, rows) {
  const kind = (column) => ({ class: [column.number && "number", column.wide && "wide", column.wrap && "wrap"].filter(Boolean).join(" ") || null });
  const cell = (value, i) => (value instanceof HTMLTableCellElement ? value : h("td", kind(columns[i]), value));
  return h("div.table", h("table",
    columns.some((column) => column.title) && h("thead", h("tr", columns.map((column) => h("th", kind(column), { scope: "col" }, column.title)))),
    h("tbody", rows.map((row) => {
      const cells = Array.isArray(row) ? row : row.cells;
      return h("tr", { class: row.marked ? "marked" : null }, cells.map(cell));
    }))));
}

/** A sheet of paper with a heading; what stands in `act` goes to the right. */
export function sheet(title, { note, act, id } = {}, ...content) {
  return h("section.sheet", { id }, h("div.title", h("h2", title), note && h("span.soft", note), act && h("span.act", act)), content);
}

/** Replaces what is in an element, unless somebody is using it. */
export function fill(element, ...content) {
  element.replaceChildren(...content.flat(Infinity).filter((part) => part !== null && part !== undefined && part !== false));
}

/** A button that copies a text and says so. */
export function copyButton(label, text) {
  const button = h("button", { type: "button", title: text }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      // Without permission the text is shown, to be copied by hand.
      window.prompt(label, text);
    }
    setTimeout(() => { button.textContent = label; }, 1200);
  });
  button.dataset.text = text;
  return button;
}
