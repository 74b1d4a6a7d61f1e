import { offer } from "../kit/sections";
import { hypotheses } from "./hypotheses";
import { ledger } from "./ledger";
import { virtual } from "./virtual";

offer("deep", { hypotheses, ledger, virtual });
