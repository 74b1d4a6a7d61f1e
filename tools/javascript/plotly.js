// What the panels' figures need of plotly.js: scatter (in its core), bars, heat maps and meshes.
import Plotly from "plotly.js/lib/core";
import bar from "plotly.js/lib/bar";
import heatmap from "plotly.js/lib/heatmap";
import mesh3d from "plotly.js/lib/mesh3d";

Plotly.register([bar, heatmap, mesh3d]);
export default Plotly;
