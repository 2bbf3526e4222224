import type { TallyError } from '@tallystick/core';
import { openAiError, type ProviderWords } from '@tallystick/kit';
import type { Problem } from './problem.ts';

/** Another service's API that some endpoints speak: its clients find its errors in what is refused to them. */
export interface Dialect {
  /** Path of the base URL of its clients. Whatever is refused below it is told in its form too, also where no endpoint is. */
  readonly base: string;
  /** Names of the members that it adds to a problem document. */
  readonly required: readonly (keyof Problem)[];
  /** Those members. @param words what a provider said of the request */
  readonly members: (error: TallyError, words: ProviderWords | undefined) => Partial<Problem>;
}

/** OpenAI's API. */
export const OPENAI: Dialect = {
  base: '/v1/compute/',
  required: ['error'],
  members: (error, words) => ({ error: openAiError(error, words) }),
};

export function dialectAt(dialects: Iterable<Dialect>, path: string): Dialect | undefined {
  return [...dialects].find(({ base }) => path.startsWith(base));
}
