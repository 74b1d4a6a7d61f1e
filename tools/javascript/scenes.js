// All scenes, as one painter: what plotly.js is for the other figures, `react` and `purge` included.
import { alone, camera, pictureOf } from "../../neuroviz/kit/javascript/scene.js";
import { tokens } from "../../neuroviz/beyond/proof/javascript/tokens.js";
import { factors } from "../../neuroviz/factorization/javascript/factors.js";
import { ledger } from "../../neuroviz/deep/javascript/ledger.js";
import { unrolled } from "../../neuroviz/beyond/unrolling/javascript/unrolled.js";
import { weights } from "../../neuroviz/deep/javascript/weights.js";
import { fibre } from "../../neuroviz/single_layer/javascript/fibre.js";
import { section } from "../../neuroviz/singular/javascript/section.js";
import { surface } from "../../neuroviz/singular/javascript/surface.js";

const SCENES = { factors, fibre, ledger, section, surface, tokens, unrolled, weights };

const LEAST = 820; // pixels, as in the book: in a narrower place a scene is scrolled, as its words have their size

// A plain script, as pages from a disk may load no module. `talk` is to the controls; without it there is no kernel.
globalThis.neurovizScenes = {
  react(box, data, layout, _config, talk) {
    const { scene, place } = layout.meta, still = JSON.stringify(place);
    if (!box.scene) {
      box.style.cssText += "; overflow: auto hidden";
      const host = box.appendChild(document.createElement("div"));
      host.className = "nv-scene";
      box.talk = talk ?? alone(place);
      box.scene = SCENES[scene](host, box.talk);
      camera(host, `neuroviz-${scene}`);
    } else if (!talk && box.still !== still) box.talk.set(place);
    box.still = still;
    const height = layout.height - (layout.width < LEAST ? 14 : 0); // what scrolls it has room below
    box.scene.show(data, { ...layout, height }, Math.max(layout.width, LEAST));
  },
  toImage: (box, { format }) => pictureOf(box.firstChild, format, 1),
  purge(box) {
    box.scene?.close();
    box.scene = null;
    box.replaceChildren();
  },
};
