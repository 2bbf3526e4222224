/** Codes of JSON-RPC 2.0, section 5.1. */
export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const INTERNAL_ERROR = -32_603;

/** An answer that is an error. @param id JSON text of the request's id; null if it could not be read */
export function errorAnswer(id: string | null, code: number, message: string): Buffer {
  const error = JSON.stringify({ code, message });
  return Buffer.from(`{"jsonrpc":"2.0","id":${id ?? 'null'},"error":${error}}`);
}

/** The result of a tool that was not called. @param id JSON text of the request's id */
export function refusal(id: string, text: string): Buffer {
  const result = JSON.stringify({ content: [{ type: 'text', text }], isError: true });
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
}
