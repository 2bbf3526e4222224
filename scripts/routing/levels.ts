import { readdirSync, readFileSync } from 'node:fs';
import { type PromptFeatures, readPrompt } from '../../packages/inference/src/router/features.ts';

const FOLDER = new URL('../../bench/difficulty/', import.meta.url);
const LEVELS = 3;

/** A prompt whose difficulty is known by construction only: see `bench/difficulty/README.md`. */
export interface LevelledPrompt {
  readonly family: string;
  /** 0 for the lowest level, 1 for the highest. */
  readonly level: number;
  readonly prompt: string;
  readonly features: PromptFeatures;
}

export function readLevels(): LevelledPrompt[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'));
  return files.toSorted().flatMap((file) => {
    const items = readFileSync(new URL(file, FOLDER), 'utf8').trimEnd().split('\n----\n');
    return items.flatMap((item) => promptsOf(item, file.replace('.txt', '')));
  });
}

function promptsOf(item: string, family: string): LevelledPrompt[] {
  const [shared = '', ...parts] = item.split(/^\[([123])\]\n/m);
  return Array.from({ length: parts.length / 2 }, (_, index) => {
    const prompt = `${shared}${parts[2 * index + 1] ?? ''}`.trimEnd();
    const level = (Number(parts[2 * index]) - 1) / (LEVELS - 1);
    return { family, level, prompt, features: readPrompt(prompt) };
  });
}
