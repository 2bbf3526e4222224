import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type PromptFeatures, readPrompt } from '../../packages/inference/src/router/features.ts';
import { pathsIn, publicDataFolder } from '../public-data.ts';
import { parseCsv } from './csv.ts';
import type { Graded } from './curve.ts';
import { duplicateGroups } from './duplicates.ts';

export const WEAK = 'mistralai/Mixtral-8x7B-Instruct-v0.1';
export const STRONG = 'gpt-4-1106-preview';

export interface Example extends Graded {
  readonly prompt: string;
  /** One of MMLU's 57 subjects, or `gsm8k`. */
  readonly subject: string;
  readonly features: PromptFeatures;
  /** Number that prompts share if they are nearly the same, whatever their subject. */
  readonly group: number;
}

export interface RoutingData {
  readonly mmlu: readonly Example[];
  readonly gsm8k: readonly Example[];
}

/**
 * Reads graded answers of two models to MMLU and GSM8K, and computes what the router sees of each prompt.
 * @throws MissingData
 */
export function readRoutingData(): RoutingData {
  const folder = publicDataFolder('routing');
  const subjects = pathsIn(folder, 'mmlu', { named: 'mmlu_*.csv' });
  const rows = [
    ...subjects.flatMap((path) => read(path, basename(path).replace(/^mmlu_|\.csv$/g, ''))),
    ...read(join(folder, 'gsm8k_responses.csv'), 'gsm8k'),
  ];
  const groups = duplicateGroups(rows.map(({ prompt }) => prompt));
  const examples = rows.map((row, index) => ({ ...row, group: groups[index] ?? index }));
  return {
    mmlu: examples.filter(({ subject }) => subject !== 'gsm8k'),
    gsm8k: examples.filter(({ subject }) => subject === 'gsm8k'),
  };
}

function read(path: string, subject: string): Omit<Example, 'group'>[] {
  return parseCsv(readFileSync(path, 'utf8')).map((row) => {
    const prompt = row['prompt'] ?? '';
    return {
      prompt,
      subject,
      features: readPrompt(prompt),
      weak: grade(row[WEAK]),
      strong: grade(row[STRONG]),
    };
  });
}

function grade(text: string | undefined): number {
  if (text === 'True') return 1;
  if (text === 'False') return 0;
  throw new Error(`A grade is ${JSON.stringify(text)}.`);
}
