// All scenes, as one painter: what plotly.js is for the other figures, `react` and `purge` included.
import { alone, camera, pictureOf } from "../neuroviz/kit/javascript/scene.js";
import { factors } from "../neuroviz/factorization/javascript/factors.js";
import { ledger } from "../neuroviz/deep/javascript/ledger.js";
import { section } from "../neuroviz/singular/javascript/section.js";

const SCENES = { factors, ledger, section };

const LEAST = 820; // pixels, as in the book: in a narrower place a scene is scrolled, as its words have their size

// Scenes that are still drawn from plotly's dictionaries; `painter` draws the others.
export const asOnce = (painter) => ({
  ...painter,
  react(box, drawn, width, talk) {
    if (drawn.facts) return painter.react(box, drawn, width, talk);
    const layout = { ...drawn.layout, width }, { scene, place } = layout.meta, still = JSON.stringify(place);
    if (!box.scene) {
      box.style.cssText += "; overflow: auto hidden";
      const host = box.appendChild(document.createElement("div"));
      host.className = "nv-scene";
      box.talk = talk ?? alone(place);
      box.scene = SCENES[scene](host, box.talk);
      camera(host, `neuroviz-${scene}`);
    } else if (!talk && box.still !== still) box.talk.set(place);
    box.still = still;
    const height = layout.height - (width < LEAST ? 14 : 0); // what scrolls it has room below
    box.scene.show(drawn.data, { ...layout, height }, Math.max(width, LEAST));
  },
  toImage: (box, how) => (box.scene ? pictureOf(box.firstChild, how.format, 1) : painter.toImage(box, how)),
  purge(box) {
    if (!box.scene) return painter.purge(box);
    box.scene.close();
    box.scene = null;
    box.replaceChildren();
  },
});
