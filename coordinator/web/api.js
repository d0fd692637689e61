// Requests to the API.

/** An answer that is an error, with what the server said. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function answer(reply) {
  const text = await reply.text();
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Refused(reply.status, reply.ok ? "the server's answer cannot be read" : `${reply.status} ${reply.statusText}`);
  }
  if (!reply.ok) throw new Refused(reply.status, body.error ?? `${reply.status} ${reply.statusText}`);
  return body;
}

/** What is at an address below /api/v1/. */
export const get = async (path) => answer(await fetch(`/api/v1/${path}`));

/** Asks for something to be done, with a token where one was given. */
export async function post(path, body, token) {
  const headers = { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  return answer(await fetch(`/api/v1/${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

/** A part of an address. */
export const part = encodeURIComponent;

/** Addresses of pages. */
export const to = {
  run: (run) => `/runs/${part(run)}`,
  version: (run, version) => `/runs/${part(run)}/versions/${part(version)}`,
  game: (run, game) => `/runs/${part(run)}/games/${game.series}/${game.number}`,
  position: (run, position, roll) =>
    `/runs/${part(run)}/position?${new URLSearchParams({ position, ...(roll ? { roll } : {}) })}`,
};
