/** All scenes as one plain script: a page that is opened from a disk may load no module. */
import { immersion } from "./beyond/immersion";
import { uniqueness } from "./beyond/uniqueness";
import { hypotheses } from "./deep/hypotheses";
import { ledger } from "./deep/ledger";
import { factors } from "./factorization/factors";
import { painterOf } from "./kit/painter";
import { fibre } from "./single_layer/fibre";
import { section } from "./singular/section";
import { surface } from "./singular/surface";
import { asOnce } from "./old_scenes.js";

const painter = painterOf({ factors, fibre, hypotheses, immersion, ledger, section, surface, uniqueness });

Object.assign(globalThis, { neurovizScenes: asOnce(painter) });
