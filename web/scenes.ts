/** All scenes as one plain script: a page that is opened from a disk may load no module. */
import { blending } from "./beyond/blending";
import { uniqueness } from "./beyond/uniqueness";
import { unrolled } from "./beyond/unrolled";
import { hypotheses } from "./deep/hypotheses";
import { ledger } from "./deep/ledger";
import { virtual } from "./deep/virtual";
import { factors } from "./factorization/factors";
import { painterOf } from "./kit/painter";
import { fiber } from "./single_layer/fiber";
import { learning } from "./singular/learning";
import { resultant } from "./singular/resultant";
import { section } from "./singular/section";
import { surface } from "./singular/surface";
import { immersion } from "./softmax/immersion";
import { newVariable } from "./softmax/new_variable";

const painter = painterOf({
  blending,
  factors,
  fiber,
  hypotheses,
  immersion,
  learning,
  ledger,
  "new-variable": newVariable,
  resultant,
  section,
  surface,
  uniqueness,
  unrolled,
  virtual,
});

Object.assign(globalThis, { neurovizScenes: painter });
