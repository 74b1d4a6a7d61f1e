// anywidget comes for a loader that calls a global `define`; esbuild puts this one in its place.
export const amd = {};
export const define = (_names, factory) => { amd.factory = factory; };

// anywidget gives a widget up whose script is not there after two seconds; a slow page takes longer.
const timeout = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = (ms) => timeout(Math.max(ms, 600_000));
