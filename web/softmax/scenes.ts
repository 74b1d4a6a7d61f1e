import { offer } from "../kit/sections";
import { immersion } from "./immersion";
import { newVariable } from "./new_variable";

offer("softmax", { immersion, "new-variable": newVariable });
