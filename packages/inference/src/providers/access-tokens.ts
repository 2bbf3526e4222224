import type { JsonObject } from '@tallystick/core';
import { readObject, requireSuccess } from './answers.ts';
import { badAnswer } from './failures.ts';
import { asText } from './members.ts';
import { ProviderError } from './provider.ts';
import { openTransport } from './transport.ts';

/** Where a key is exchanged for access tokens (RFC 6749); from the operator's configuration only. */
export interface OAuthOptions {
  readonly tokenUrl: string;
  readonly clientId: string | null;
  readonly scope: string | null;
}

/** The access tokens of one provider. */
export interface AccessTokens {
  /** A token that holds for a while yet. Calls that come at once wait for the same one. @throws ProviderError */
  of(credential: string): Promise<string>;
  /** Has the next call ask for a new token, because the provider refused this one. */
  forget(credential: string): void;
  close(): Promise<void>;
}

interface AccessTokensOptions {
  /** The provider's name. */
  readonly name: string;
  readonly tokenUrl: string;
  /** The members of the form that asks for a token. @throws ProviderError for a credential of another form */
  readonly grant: (credential: string) => Promise<Record<string, string>> | Record<string, string>;
}

const timeouts = { connectMs: 5_000, firstByteMs: 10_000, answerMs: 10_000, idleMs: 10_000 };
const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };

interface Token {
  readonly text: string;
  /** From then on a new one is asked for. Milliseconds since 1970, as `endsAt`. */
  readonly renewAt: number;
  readonly endsAt: number;
}

/** Opens the token endpoint. Nothing is sent until the first token is asked for. Nothing of its answers is passed on. */
export function openAccessTokens({ name, tokenUrl, grant }: AccessTokensOptions): AccessTokens {
  const endpoint = `the token endpoint of ${name}`;
  const transport = openTransport({ name: endpoint, baseUrl: tokenUrl, timeouts });
  const current = new Map<string, Token>();
  const renewing = new Map<string, Promise<Token>>();

  const ask = async (credential: string): Promise<Token> => {
    const body = new URLSearchParams(await grant(credential)).toString();
    // Several calls may wait for the token, so none of them ends the request.
    const { signal } = new AbortController();
    const reply = await transport.post({ path: '', body, streamed: false, signal, headers });
    return tokenOf(
      endpoint,
      await readObject(endpoint, await requireSuccess(endpoint, reply, [], () => null)),
    );
  };

  const renew = async (credential: string): Promise<Token> => {
    try {
      const token = await ask(credential);
      current.set(credential, token);
      return token;
    } catch (error) {
      throw refusalOf(error);
    } finally {
      renewing.delete(credential);
    }
  };

  const renewed = (credential: string): Promise<Token> => {
    const asked = renewing.get(credential) ?? renew(credential);
    renewing.set(credential, asked);
    return asked;
  };

  return {
    async of(credential) {
      const token = current.get(credential);
      if (token !== undefined && Date.now() < token.renewAt) return token.text;
      try {
        return (await renewed(credential)).text;
      } catch (error) {
        if (token !== undefined && Date.now() < token.endsAt) return token.text;
        throw error;
      }
    },
    forget: (credential) => void current.delete(credential),
    close: () => transport.close(),
  };
}

/** A token is renewed five minutes before its end, or halfway through a life that is shorter than ten. */
function tokenOf(endpoint: string, { access_token, expires_in }: JsonObject): Token {
  const text = asText(access_token);
  const lifeMs = Number(expires_in) * 1_000;
  if (text === null || text === '' || !(lifeMs > 0)) throw badAnswer(endpoint);
  const now = Date.now();
  return { text, renewAt: now + Math.max(lifeMs / 2, lifeMs - 300_000), endsAt: now + lifeMs };
}

/** A refusal by the token endpoint is about the operator's credentials, never about the caller's request. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof ProviderError) || (error.kind !== 'refused' && error.kind !== 'gone')) return error;
  return new ProviderError('auth', error.message, { status: error.status ?? undefined });
}
