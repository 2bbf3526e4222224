import { Client } from 'undici';

export interface Post {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The middle of so many times, in milliseconds, from a request to its answer. */
export interface Times {
  readonly answer: number;
  readonly firstByte: number;
}

/** Times requests one after the other, on one connection. */
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

/** Not counted: the connection is made, and what slept is awake. */
const WARM = 10;

function middle(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}
