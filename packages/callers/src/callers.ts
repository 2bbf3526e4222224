import { type Received, type ReceivedBody, Refusal } from '@tallystick/kit';
import { callerAccount, DEVELOPMENT, X402 } from '@tallystick/ledger';
import { AGENT_ERRORS, type Agent, type AgentDependencies, agentReader, carriesSignature } from './agents.ts';
import {
  API_KEY_ERRORS,
  type CredentialDependencies,
  type Credentials,
  createCredentials,
  type PayingKey,
} from './credentials.ts';

/** Who calls a model or reads about models: the API key, if there is one, and the agent that the call is counted under. */
export type Client = Agent & { readonly key: PayingKey | null };

/** A client that has an account to charge. */
export type Caller = Client & {
  /**
   * The ledger account that pays: of the API key's owner, else of the DID that is proved, else `x402` where payments are
   * on and each call brings its own, else `development`.
   */
  readonly account: string;
  /** Tells callers apart who share an account: that of the API key itself, else the same as `account`. */
  readonly name: string;
  /** Whose spending the caller's calls count in: the API key, and its owner; or the DID. Empty for strangers. */
  readonly spenders: readonly Spender[];
  /** Whether whoever has no balance is served all the same: in development, with payments off. */
  readonly development: boolean;
};

/** Id of an API key, or a DID, whose spending is counted, with its limits as JSON; null where it has none. */
export interface Spender {
  readonly id: string;
  readonly limits: string | null;
}

/** A call whose API key was looked up before its body was read, or is looked up now. */
export interface ClientCall extends ReceivedBody {
  /** What `keyOf`, `admitCaller` or `admitPayer` gave; absent where none was asked. */
  readonly admitted?: PayingKey | null | undefined;
}

/** Tells who makes a request, of all kinds of callers (docs/glossary.md). */
export interface Callers extends Pick<Credentials, 'admit' | 'takeUses'> {
  /**
   * The agent of a request (spec/identity.md). A signature that is there is always checked, and good once: ask once a request.
   * @throws signature_invalid; invalid_field where `X-Agent-DID` is no DID
   */
  readonly agentOf: (call: ReceivedBody) => Promise<Agent>;
  /**
   * The API key of a client of models, by its headers alone; null where there is none.
   * @throws api_key_invalid, api_key_revoked, api_key_expired; with `WWW-Authenticate`
   */
  readonly keyOf: (call: Received) => Promise<PayingKey | null>;
  /** As `keyOf`. @throws api_key_missing too, where nothing names a caller whom `callerOf` could charge */
  readonly admitCaller: (call: Received) => Promise<PayingKey | null>;
  /** As `admitCaller`, of a call that an x402 payment may cover. */
  readonly admitPayer: (call: Received) => Promise<PayingKey | null>;
  /** Throws what `keyOf` and `agentOf` throw. */
  readonly clientOf: (call: ClientCall) => Promise<Client>;
  /** As `clientOf`. @throws api_key_missing too, with `WWW-Authenticate` */
  readonly callerOf: (call: ClientCall) => Promise<Caller>;
  /** The caller that an API key stands for, by its id: for calls that the operator makes with it. @throws as `keyNamed` */
  readonly callerOfKey: (id: string) => Promise<Caller>;
  /** As `callerOf`, of a call that an x402 payment may cover, whoever makes it. */
  readonly payerOf: (call: ClientCall) => Promise<Caller>;
}

/** The codes that `callerOf` throws, for the endpoints that use it. */
export const CALLER_ERRORS = [...API_KEY_ERRORS, ...AGENT_ERRORS] as const;

export function createCallers(
  dependencies: AgentDependencies & CredentialDependencies,
  { development, payments }: { readonly development: boolean; readonly payments: boolean },
): Callers {
  const { admit, keyOfClient, keyNamed, takeUses } = createCredentials(dependencies);
  const serves = development && !payments;
  const keyed = (client: Agent, key: PayingKey): Caller => ({
    ...client,
    key,
    account: callerAccount(key.owner),
    name: callerAccount(key.id),
    spenders: spendersOf(key),
    development: serves,
  });
  const agentOf = agentReader(dependencies);
  const stranger = development ? DEVELOPMENT : null;
  const payer = payments ? X402 : stranger;
  const keyOf: Callers['keyOf'] = (call) => keyOfClient(call, { ignoreStrangers: development });
  const clientOf: Callers['clientOf'] = async (call) => {
    const key = call.admitted === undefined ? await keyOf(call) : call.admitted;
    return { ...(await agentOf(call)), key };
  };
  const admitted = (otherwise: string | null) => async (call: Received) => {
    const key = await keyOf(call);
    if (key === null && otherwise === null && !carriesSignature(call.incoming)) throw unknownCaller();
    return key;
  };
  const charged = (otherwise: string | null) => async (call: ClientCall) => {
    const client = await clientOf(call);
    if (client.key !== null) return keyed(client, client.key);
    if (client.proved) {
      const { did } = client;
      const account = callerAccount(did);
      const spenders = [{ id: did, limits: await dependencies.store.apiKeys.inUse.limitsOf(did) }];
      return { ...client, account, name: account, spenders, development: serves };
    }
    if (otherwise === null) throw unknownCaller();
    return { ...client, account: otherwise, name: otherwise, spenders: [], development: serves };
  };
  return {
    admit,
    takeUses,
    agentOf,
    keyOf,
    admitCaller: admitted(stranger),
    admitPayer: admitted(payer),
    clientOf,
    callerOf: charged(stranger),
    callerOfKey: async (id) => keyed({ did: null, proved: false }, await keyNamed(id)),
    payerOf: charged(payer),
  };
}

/** The key whose own rows alone the caller may list; null where it may list those of its whole account. */
export function onlyKeyOf({ key, name, account }: Pick<Caller, 'key' | 'name' | 'account'>): string | null {
  return key === null || name === account ? null : key.id;
}

/** Who a key pays for: itself, and the owner of its account if that is another. */
export function spendersOf({ id, limits, owner, ownerLimits }: PayingKey): Spender[] {
  const own = { id, limits };
  return owner === id ? [own] : [own, { id: owner, limits: ownerLimits }];
}

function unknownCaller(): Refusal {
  return new Refusal(
    'api_key_missing',
    'The call needs a payer: send Authorization: Bearer k_…, or X-Agent-DID proved by an HTTP message signature (RFC 9421; see spec/identity.md).',
    { bearer: 'missing' },
  );
}
