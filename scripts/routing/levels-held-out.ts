import { levelOf } from '../../packages/inference/src/router/demand-level.ts';
import type { LinearModel } from '../../packages/inference/src/router/difficulty.ts';
import { type DemandSet, fitDemands } from './demand-model.ts';
import { gainOf } from './evaluate.ts';
import type { LevelledPrompt } from './levels.ts';

/** The predicted level of each prompt, from a model that saw none of its family. */
export function heldOutLevels(
  prompts: readonly LevelledPrompt[],
  graded: readonly DemandSet[],
  choice: LinearModel,
): number[] {
  const levels = prompts.map(() => 0);
  for (const family of new Set(prompts.map((prompt) => prompt.family))) {
    const model = fitDemands(
      prompts.filter((prompt) => prompt.family !== family),
      graded,
      choice,
    );
    for (const [index, prompt] of prompts.entries())
      if (prompt.family === family)
        levels[index] = levelOf(prompt.features.values, gainOf(prompt, choice), model) ?? 0;
  }
  return levels;
}
