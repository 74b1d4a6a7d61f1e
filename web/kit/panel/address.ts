/**
 * Addresses that open a panel in a state. One ends in #Name:state, or in the static edition in
 * #Name@place:state, which names one of several panels of a kind.
 */

import { notebookInFront } from "../pages";

declare global {
  /** What the address of the page ended in; empty once a panel has read it. */
  var neurovizLinked: { hash: string } | undefined;
}

const linked = (globalThis.neurovizLinked ??= { hash: location.hash || firstHash() });

/** JupyterLab takes path and hash out of the address. */
function firstHash(): string {
  const first = performance.getEntriesByType("navigation")[0];
  return new URL(first?.name ?? location.href).hash;
}

/** The state that the address asks for; for the first panel of this name alone. */
export function stateFor(name: string): string | null {
  const found = /^#(\w+)(?:@[\w-]+)?:(.*)$/.exec(decoded(linked.hash));
  if (found?.[1] !== name) return null;
  linked.hash = "";
  return found[2];
}

/** What can be read: a link may have been cut at "%3", or be of somebody else who writes "100%". */
function decoded(text: string): string {
  return text.replace(/(%[0-9a-f]{2})+/gi, (code) => {
    try {
      return decodeURIComponent(code);
    } catch {
      return code;
    }
  });
}

/** The address of this page that opens a panel; `place` is its id in the static edition. */
export function addressOf(name: string, state: string, place: string | undefined): string {
  const address = new URL(location.href);
  const path = notebookInFront();
  if (path) address.searchParams.set("path", path);
  const where = place === undefined ? "" : `@${place}`;
  address.hash = `${name}${where}:${encodeURIComponent(state)}`;
  return address.href;
}

/** With a server of one's own there is nobody to send an address to. */
export function hasServer(): boolean {
  const settings = "#jupyter-config-data:not([data-jupyter-lite-root])";
  return document.querySelector(settings) !== null;
}
