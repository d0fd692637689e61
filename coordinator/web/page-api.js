// The API, to be read.

import { h, sheet } from "./dom.js";

export async function show(main, { trail }) {
  trail(null, "API");
  const api = await (await fetch("/api/openapi.json")).json();
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })));
  main.replaceChildren(
    h("div.head", h("h1", api.info.title), h("span.soft", `version ${api.info.version}`), h("span.act", h("a", { href: "/api/openapi.json" }, "openapi.json"))),
    h("p", api.info.description),
    ...operations.map((operation) => sheet(operation.summary, { note: h("code", `${operation.method} ${operation.path}`), id: operation.operationId }, body(operation, api))),
    sheet("What comes back", { id: "schemas" }, h("div.stack", Object.entries(api.components.schemas).map(([name, schema]) => h("details", { id: `schema-${name}` }, h("summary", name), fields(schema))))));
}

function body({ description, parameters = [], requestBody, responses }, api) {
  const known = parameters.map((parameter) => (parameter.$ref ? api.components.parameters[parameter.$ref.split("/").at(-1)] : parameter));
  const answer = Object.entries(responses).map(([status, { description: text, content }]) =>
    [h("dt", status), h("dd", text, " ", Object.entries(content ?? {}).map(([kind, { schema }]) => h("span.soft", `${kind} `, link(schema))))]);
  const input = requestBody && [h("dt", "Body"), h("dd", link(requestBody.content["application/json"].schema))];
  return h("div.stack", description && h("p", description),
    h("dl.facts", known.map((parameter) => [h("dt", h("code", parameter.name)), h("dd", parameter.description, parameter.required ? "" : h("span.faint", " optional"))]), input, answer));
}

function link(schema) {
  if (!schema) return "";
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    const open = () => { document.getElementById(`schema-${name}`).open = true; };
    return h("a", { href: `#schema-${name}`, click: open }, name);
  }
  if (schema.type === "array") return h("span", "list of ", link(schema.items));
  if (schema.oneOf) return h("span", schema.oneOf.map((one, i) => [i ? " or " : "", link(one)]));
  if (schema.additionalProperties) return h("span", "map to ", link(schema.additionalProperties));
  return h("span.soft", [schema.type].flat().join(" or "));
}

function fields(schema) {
  const properties = { ...schema.properties, ...Object.assign({}, ...(schema.allOf ?? []).map((part) => part.properties ?? {})) };
  const parents = (schema.allOf ?? []).filter((part) => part.$ref);
  return h("div.stack", schema.description && h("p", schema.description), parents.length ? h("p", "Everything of ", parents.map(link), " and:") : "",
    h("dl.facts", Object.entries(properties).map(([name, property]) => [h("dt", h("code", name)), h("dd", link(property), " ", h("span.soft", property.description ?? ""))])));
}
