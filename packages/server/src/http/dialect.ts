import type { TallyError } from '@tallystick/core';
import { anthropicError, openAiError, type ProviderWords } from '@tallystick/kit';
import type { Problem } from './problem.ts';

/** Another service's API that some endpoints speak: its clients find its errors in what is refused to them. */
export interface Dialect {
  /** Beginnings of its paths. Whatever is refused below them is told in its form too, also where no endpoint is. */
  readonly bases: readonly string[];
  /** Component of the OpenAPI document that describes its problem documents. */
  readonly schema: 'Problem' | 'AnthropicProblem';
  /** Names of the members that it adds to a problem document. */
  readonly required: readonly (keyof Problem)[];
  /** Those members. */
  readonly members: (error: TallyError, told: Told) => Partial<Problem>;
}

interface Told {
  /** What a provider said of the request. */
  readonly words: ProviderWords | undefined;
  readonly requestId: string;
}

/** OpenAI's API. */
export const OPENAI: Dialect = {
  bases: ['/v1/compute/'],
  schema: 'Problem',
  required: ['error'],
  members: (error, { words }) => ({ error: openAiError(error, words) }),
};

/** Anthropic's Messages API. Its clients add `/v1` to their base URL themselves. */
export const ANTHROPIC: Dialect = {
  bases: ['/v1/compute/messages', '/v1/compute/v1/'],
  schema: 'AnthropicProblem',
  required: ['error', 'request_id'],
  members: (error, { requestId }) => ({ type: 'error', error: anthropicError(error), request_id: requestId }),
};

/** The dialect whose base fits the path best. */
export function dialectAt(dialects: Iterable<Dialect>, path: string): Dialect | undefined {
  const fitting = [...dialects].flatMap((dialect) =>
    dialect.bases.filter((base) => path.startsWith(base)).map((base) => ({ dialect, base })),
  );
  return fitting.sort((a, b) => b.base.length - a.base.length)[0]?.dialect;
}
