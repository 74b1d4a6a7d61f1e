/**
 * anywidget comes for a loader that calls a global `define`; build.mjs puts this one in its place.
 */
type Factory = (base: object) => object;

export const amd: { factory?: Factory } = {};

export function define(_names: string[], factory: Factory) {
  amd.factory = factory;
}

// Milliseconds: so long anywidget waits for the script of a widget. A slow page takes longer.
const ITS_PATIENCE = 2000;
const PATIENCE = 600_000;
const timeout = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = (milliseconds) =>
  timeout(milliseconds === ITS_PATIENCE ? PATIENCE : milliseconds);
