import type { NativeForm, Protocol } from '../protocol.ts';
import { answerOf } from './answer.ts';
import { errorIn, innerAnswer, ResponseReader } from './native.ts';
import { itemReferences } from './references.ts';
import { fitsNative, innerOf, nativeOnly, textPlaces } from './request.ts';
import { ResponseEncoder } from './stream.ts';

const native: NativeForm = {
  protocol: 'responses',
  modelPaths: [['model'], ['response', 'model']],
  limit: 'max_output_tokens',
  // Absent means true in OpenAI's API.
  set: { store: false },
  fits: fitsNative,
  textPlaces,
  nativeOnly,
  innerAnswer,
  innerStream: (provider) => new ResponseReader(provider),
  errorIn,
};

/** OpenAI's Responses, stateless, but for items that clients refer to by themselves. */
export const responses: Protocol = {
  name: 'responses',
  innerOf,
  answerOf,
  stream: (given) => new ResponseEncoder(given),
  members: {
    messages: 'input',
    response_format: 'text.format',
    max_completion_tokens: 'max_output_tokens',
    max_tokens: 'max_output_tokens',
    reasoning_effort: 'reasoning.effort',
    logprobs: 'include',
  },
  items: itemReferences,
  native,
};
