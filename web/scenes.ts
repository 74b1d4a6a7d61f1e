/** All scenes as one plain script: a page that is opened from a disk may load no module. */
import { immersion } from "./beyond/immersion";
import { uniqueness } from "./beyond/uniqueness";
import { unrolled } from "./beyond/unrolled";
import { virtual } from "./deep/virtual";
import { painterOf } from "./kit/painter";
import { fibre } from "./single_layer/fibre";
import { surface } from "./singular/surface";
import { asOnce } from "./old_scenes.js";

const painter = painterOf({ fibre, immersion, surface, uniqueness, unrolled, virtual });

Object.assign(globalThis, { neurovizScenes: asOnce(painter) });
