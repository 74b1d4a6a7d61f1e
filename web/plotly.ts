/** What the charts of panels need of plotly.js: scatter (in its core), bars and heat maps. */
import Plotly from "plotly.js/lib/core";
import bar from "plotly.js/lib/bar";
import heatmap from "plotly.js/lib/heatmap";

Plotly.register([bar, heatmap]);

export default Plotly;
