import { offer } from "../kit/sections";
import { learning } from "./learning";
import { resultant } from "./resultant";
import { section } from "./section";
import { surface } from "./surface";

offer("singular", { learning, resultant, section, surface });
