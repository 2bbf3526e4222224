import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type PromptFeatures, readPrompt } from '../../packages/inference/src/router/features.ts';
import { parseCsv } from './csv.ts';
import type { Graded } from './curve.ts';
import { duplicateGroups } from './duplicates.ts';

/** Folder with graded answers of two models to MMLU and GSM8K (lm-sys/RouteLLM). It is not part of the project. */
const FOLDER = new URL('../../../shared/data/routing/', import.meta.url);

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

/** Reads the data, and computes what the router sees of each prompt. @throws Error if the data are missing */
export function readRoutingData(): RoutingData {
  if (!existsSync(FOLDER))
    throw new Error(`There is no ${FOLDER.pathname}: the graded answers lie beside the project.`);
  const files = readdirSync(new URL('mmlu/', FOLDER)).toSorted();
  const rows = [
    ...files.flatMap((file) => read(`mmlu/${file}`, file.replace(/^mmlu_|\.csv$/g, ''))),
    ...read('gsm8k_responses.csv', 'gsm8k'),
  ];
  const groups = duplicateGroups(rows.map(({ prompt }) => prompt));
  const examples = rows.map((row, index) => ({ ...row, group: groups[index] ?? index }));
  return {
    mmlu: examples.filter(({ subject }) => subject !== 'gsm8k'),
    gsm8k: examples.filter(({ subject }) => subject === 'gsm8k'),
  };
}

function read(name: string, subject: string): Omit<Example, 'group'>[] {
  return parseCsv(readFileSync(new URL(name, FOLDER), 'utf8')).map((row) => {
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
