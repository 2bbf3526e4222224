import { cardsOf } from '../card.ts';
import { announce, byId, element, fromTemplate, on, setContents } from '../dom.ts';
import { fetchJson, isRequestFailure, type RequestFailure, reasonOf } from '../fetch-answer.ts';
import { usageProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';
import type { Stats, Totals, Usage } from './documents.ts';
import { methodsFigure, routesFigure, savedFigure, tokensFigure } from './figures.ts';
import { count, usdc } from './numbers.ts';

let runs = 0;

/** Fetches a document of this service. The key is sent in the header only. */
async function read<T>(path: `/${string}`, key: string): Promise<T | RequestFailure> {
  const headers: HeadersInit = key === '' ? {} : { authorization: `Bearer ${key}` };
  return (await fetchJson(path, { headers, cache: 'no-store', credentials: 'omit' })) as T | RequestFailure;
}

async function showService(): Promise<void> {
  const stats = await read<Stats>('/v1/compute/compression/stats', '');
  setContents(byId('service'), ...(isRequestFailure(stats) ? [refused(stats)] : totalsOf(stats.service)));
}

/** Shows the usage of the key or DID; of two requests that overlap, the later one is shown. */
async function showOwn(): Promise<void> {
  const run = ++runs;
  const key = byId('key', HTMLInputElement).value.trim();
  const did = byId('did', HTMLInputElement).value.trim();
  const parts = await ownParts(key, did);
  if (run !== runs) return;
  setContents(byId('own'), ...parts);
  announce(byId('own').querySelector('h2, .refusal')?.textContent ?? '');
}

async function ownParts(key: string, did: string): Promise<Node[]> {
  const { text } = prose;
  if (key === '' && did === '') return [refusal(text.nobody)];
  const subject = did === '' ? await subjectOf(key) : did;
  if (typeof subject !== 'string') return [refused(subject)];
  if (subject === '') return [refusal(text.notAKey)];
  const usage = await read<Usage>(`/v1/compute/usage/${encodeURIComponent(subject)}`, key);
  return isRequestFailure(usage) ? [refused(usage)] : usageOf(usage);
}

/** The public id under which calls of the key are counted; empty if the service knows no such key. */
async function subjectOf(key: string): Promise<string | RequestFailure> {
  const stats = await read<Stats>('/v1/compute/compression/stats', key);
  return isRequestFailure(stats) ? stats : (stats.caller?.subject ?? '');
}

function usageOf({ did, days, total, account }: Usage): Node[] {
  const { text } = prose;
  const heading = element('h2', 'whose', formatText(text.usageOf, did));
  if (days.length === 0) {
    return [heading, fromTemplate('t-empty', { title: text.noCalls, message: text.noCallsMessage })];
  }
  const cards = cardsOf([
    { name: text.calls, number: count(total.calls), note: '' },
    {
      name: text.charged,
      number: usdc(total.charged),
      note: formatText(text.balance, usdc(account.balance)),
    },
    { name: text.savedTokens, number: count(total.saved_tokens), note: '' },
    { name: text.saving, number: usdc(total.saving), note: formatText(text.share, usdc(total.share)) },
  ]);
  return [heading, cards, tokensFigure(days), savedFigure(days), routesFigure(days)];
}

function totalsOf(totals: Totals): Node[] {
  const { text } = prose;
  if (totals.calls === 0) {
    return [fromTemplate('t-empty', { title: text.noSavings, message: text.noSavingsMessage })];
  }
  const cards = cardsOf([
    { name: text.shortened, number: count(totals.calls), note: '' },
    {
      name: text.savedTokens,
      number: count(totals.saved_tokens),
      note: formatText(text.ofTokens, count(totals.tokens_before)),
    },
    { name: text.saving, number: usdc(totals.saving), note: formatText(text.shares, usdc(totals.share)) },
  ]);
  return [cards, methodsFigure(totals)];
}

const refused = (why: RequestFailure): HTMLElement => refusal(reasonOf(why, prose.text));

const refusal = (message: string): HTMLElement =>
  element('p', 'refusal', element('strong', '', prose.text.refused), ` ${message}`);

on(byId('ask'), 'submit', (event) => {
  event.preventDefault();
  setContents(byId('own'), element('p', 'help', prose.text.asking));
  return showOwn();
});
void showService();
