/**
 * anywidget comes for a loader that calls a global `define`; build.mjs puts this one in its place.
 */
type Factory = (base: object) => object;

export const amd: { factory?: Factory } = {};

export function define(_names: string[], factory: Factory) {
  amd.factory = factory;
}

// anywidget waits two seconds for the script of a widget; a slow page takes longer.
const PATIENCE = 600_000; // milliseconds
const timeout = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = (milliseconds) => timeout(Math.max(milliseconds, PATIENCE));
