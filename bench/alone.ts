import { Client } from 'undici';

export interface Post {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Medians in milliseconds: from a request to the end of its answer, and to the answer's first byte. */
export interface Times {
  readonly answer: number;
  readonly firstByte: number;
}

/** Sends requests one after the other on one connection, and returns the medians of their times. */
export async function alone({ url, path, headers, body }: Post, calls: number): Promise<Times> {
  const client = new Client(url);
  const answers: number[] = [];
  const firsts: number[] = [];
  try {
    for (let call = -WARM; call < calls; call++) {
      const start = performance.now();
      const answer = await client.request({ path, method: 'POST', headers, body });
      let first = 0;
      for await (const bytes of answer.body as AsyncIterable<Uint8Array>)
        if (bytes.length > 0) first ||= performance.now() - start;
      if (answer.statusCode !== 200) throw new Error(`${url}${path} answered ${answer.statusCode}.`);
      if (call < 0) continue;
      answers.push(performance.now() - start);
      firsts.push(first);
    }
  } finally {
    await client.close();
  }
  return { answer: middle(answers), firstByte: middle(firsts) };
}

/** Number of first requests that are not counted: they open the connection and warm up both processes. */
const WARM = 10;

function middle(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}
