// anywidget comes for a loader that calls a global `define`; esbuild puts this one in its place.
export const amd = {};
export const define = (_names, factory) => { amd.factory = factory; };
