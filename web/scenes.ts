/** All scenes as one plain script: a page that is opened from a disk may load no module. */
import { painterOf } from "./kit/painter";
import { fibre } from "./single_layer/fibre";
import { asOnce } from "./old_scenes.js";

const painter = painterOf({ fibre });

Object.assign(globalThis, { neurovizScenes: asOnce(painter) });
