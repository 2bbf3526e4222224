import { type ErrorCode, errorTable, TallyError } from '@tallystick/core';
import { type Answer, json } from '../http/answer.ts';
import { toProblem } from '../http/problem.ts';

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const SERVER_ERROR = -32_000;

/** A refusal before any method runs (JSON-RPC 2.0, section 5.1): its `data` is the problem document. */
export function jsonRpcRefusal(
  error: TallyError,
  docs: { readonly receiptsUrl: string; readonly requestId: string },
): Answer {
  const { status } = errorTable[error.code];
  return json(
    {
      jsonrpc: '2.0',
      id: null,
      error: { code: codeOf(error.code), message: error.message, data: toProblem(error, docs) },
    },
    { status },
  );
}

function codeOf(code: ErrorCode): number {
  if (code.startsWith('json_')) return PARSE_ERROR;
  return code === 'invalid_request' ? INVALID_REQUEST : SERVER_ERROR;
}
