import type { OpenApiDocument } from '../http/openapi.ts';
import { curlOf } from './curl.ts';
import { type Html, html, paragraphs, prose } from './html.ts';
import { type Operation, operationsByGroup, type Parameter, type ResponseDocs, slug } from './operation.ts';
import { renderPage } from './page.ts';
import { type Field, fieldsOf, fieldTable, namedBy, type Schema, typeOf } from './schema.ts';

/** The HTML reference of everything in the OpenAPI document. */
export function referencePage(document: OpenApiDocument): string {
  const groups = [...operationsByGroup(document)];
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  const documents = Object.entries(schemas);
  const baseUrl = document.servers?.[0]?.url ?? '';
  return renderPage({
    title: `${document.info.title} reference`,
    description: document.info.description ?? '',
    current: '/docs',
    nav: contents(groups, documents),
    main: html`${introduction(document, baseUrl)}${groups.map(([name, operations]) => group(name, { operations, schemas, baseUrl }))}${namedDocuments(documents)}`,
  });
}

type Schemas = Readonly<Record<string, Schema>>;
type Groups = readonly (readonly [string, readonly Operation[]])[];

function contents(groups: Groups, documents: readonly (readonly [string, Schema])[]): Html {
  return html`<details><summary>Contents</summary><ul class="contents">
<li><a href="#basics">Basics</a></li>
<li><a href="/docs/errors">Errors</a></li>
<li><a href="/openapi.json">OpenAPI document</a></li>
${groups.map(
  ([name, operations]) =>
    html`<li><a href="#${slug(name)}">${name}</a><ul>${operations.map(
      ({ id, method, summary }) =>
        html`<li><a href="#${id}"><span class="verb verb-${method}">${method.toUpperCase()}</span><span>${summary}</span></a></li>`,
    )}</ul></li>`,
)}
<li><a href="#documents">Documents</a><ul>${documents.map(([name]) => html`<li><a href="#document-${name}">${name}</a></li>`)}</ul></li>
</ul></details>`;
}

const PROBLEM_SAMPLE = `HTTP/1.1 422 Unprocessable Content
Content-Type: application/problem+json
X-Request-Id: 7c1f…

{
  "type": "…/docs/errors#unknown_field",
  "title": "A field is unknown",
  "status": 422,
  "detail": "Did you mean input? …",
  "code": "unknown_field",
  "field": "inputs",
  "instance": "urn:request:7c1f…"
}`;

function introduction(document: OpenApiDocument, baseUrl: string): Html {
  return html`<section id="basics"><h1>${document.info.title} reference</h1>
<p class="lede">${document.info.description ?? ''}</p>
<div class="entry basics"><div>
<h2>Base URL</h2><p>Every path is under <code>${baseUrl}</code>. Browsers may call it from any origin.</p>
<h2>Request bodies</h2><p>Send JSON in UTF-8 with <code>Content-Type: application/json</code>. Unknown fields are refused, so that a typo never passes unnoticed. JSON that two parsers could read differently is refused too: a repeated member, an integer larger than 2<sup>53</sup>−1, or text that is not valid Unicode.</p>
<h2 id="credentials">Who may call</h2><p>Each operation lists its credentials, of which one is enough; many operations need none.</p><dl>${credentials(document)}</dl>
<h2>Errors</h2><p>Every error is a problem document (RFC 9457). Branch on its <code>code</code>, which never changes; <code>field</code> names the offending field. <a href="/docs/errors">All codes</a></p>
<h2>Idempotency and retries</h2><p>Send an <code>Idempotency-Key</code> of your own with every POST that creates something. The same request with the same key gets the first answer again, marked <code>Idempotency-Replayed: true</code>. When a quota is used up, the answer is 429, and <code>Retry-After</code> says how many seconds to wait.</p>
<h2>Request ids</h2><p>Each answer has an <code>X-Request-Id</code>. If you send one, the answer repeats it. Quote it when you report a problem.</p>
</div><div class="aside">${sample('An error', PROBLEM_SAMPLE)}</div></div></section>`;
}

interface SecurityScheme {
  readonly type: string;
  readonly name?: string;
  readonly description?: string;
}

function credentials({ components }: OpenApiDocument): readonly Html[] {
  const schemes = Object.entries((components?.securitySchemes ?? {}) as Record<string, SecurityScheme>);
  return schemes.map(
    ([name, { type, name: header, description = '' }]) =>
      html`<div class="error" id="credential-${name}"><dt>${name}</dt><dd>${prose(`\`${type === 'http' ? 'Authorization: Bearer …' : `${header}: …`}\``)} ${prose(description)}</dd></div>`,
  );
}

interface GroupParts {
  readonly operations: readonly Operation[];
  readonly schemas: Schemas;
  readonly baseUrl: string;
}

function group(name: string, { operations, ...rest }: GroupParts): Html {
  return html`<section class="group" id="${slug(name)}"><h2><a class="anchor" href="#${slug(name)}">${name}</a></h2>${operations.map((operation) => entry(operation, rest))}</section>`;
}

function entry(operation: Operation, { schemas, baseUrl }: Omit<GroupParts, 'operations'>): Html {
  const { id, method, path, summary, description, availability, body, responses } = operation;
  return html`<article class="entry" id="${id}"><div>
<h3><a class="anchor" href="#${id}">${summary}</a></h3>
<p class="route"><span class="chip verb-${method}">${method.toUpperCase()}</span><code class="path">${path}</code><span class="tag ${availability}">${availability}</span></p>
${description === undefined ? null : paragraphs(description)}
${ways(operation.credentials)}
${parameterTables(operation.parameters)}
${body === undefined ? null : bodyTable(body.schema, schemas)}
${responses.filter(({ codes }) => codes.length === 0).map(success)}
${refusals(responses)}
</div><div class="aside">${sample('Try it', curlOf(operation, baseUrl), `Try it: ${summary}`)}</div></article>`;
}

/** Which credentials suffice, with links to their descriptions. */
function ways(alternatives: Operation['credentials']): Html | null {
  if (alternatives.length === 0) return null;
  const named = alternatives.map((names) =>
    names.length === 0
      ? html`none`
      : html`${names.map((name, index) => html`${index === 0 ? '' : ' with '}<a href="#credential-${name}">${name}</a>`)}`,
  );
  return html`<h4>Credentials</h4><p>${named.map((way, index) => html`${index === 0 ? '' : ', or '}${way}`)}</p>`;
}

/** A table of the body's members, also for a named schema. */
function bodyTable(schema: Schema, schemas: Schemas): Html {
  const table = fieldTable('Body', fieldsOf(namedBy(schema, schemas)));
  return html`${table ?? html`<h4>Body</h4>`}${schema.properties === undefined ? html`<p>The body is: ${typeOf(schema)}.</p>` : null}`;
}

const CAPTIONS = { path: 'Path', query: 'Query', header: 'Headers' } as const;

function parameterTables(parameters: readonly Parameter[]): Html {
  const tables = (['path', 'query', 'header'] as const).map((place) =>
    fieldTable(CAPTIONS[place], parameters.filter((one) => one.in === place).map(parameterField)),
  );
  return html`${tables}`;
}

function parameterField({ name, required = false, description, schema }: Parameter): Field {
  return {
    parent: '',
    name,
    required,
    schema: description === undefined ? schema : { ...schema, description },
  };
}

function success({ status, description, headers, contentType, schema, otherTypes }: ResponseDocs): Html {
  const sent = Object.entries(headers).map(
    ([name, { description: text }]): Field => ({
      parent: '',
      name,
      required: false,
      schema: { type: 'header', ...(text === undefined ? {} : { description: text }) },
    }),
  );
  const fields = schema === undefined ? [] : fieldsOf(schema);
  const kind =
    contentType === 'application/json' && schema !== undefined ? typeOf(schema) : (contentType ?? 'no body');
  return html`<h4>Answers ${status}</h4><p>${prose(description)} (${[kind, ...otherTypes].map((one, index) => html`${index === 0 ? '' : ', or '}${one}`)})</p>${fieldTable(`Headers of ${status}`, sent)}${fieldTable(`Body of ${status}`, fields)}`;
}

/** The error codes by status, without `internal`, which every endpoint can answer. */
function refusals(responses: readonly ResponseDocs[]): Html | null {
  const rows = responses.filter(({ codes }) => codes.some((code) => code !== 'internal'));
  if (rows.length === 0) return null;
  return html`<h4>Errors</h4><ul class="codes">${rows.map(
    ({ status, codes }) =>
      html`<li><span class="status">${status}</span><span class="list">${codes.map((code) => html`<a href="/docs/errors#${code}">${code}</a>`)}</span></li>`,
  )}</ul>`;
}

function namedDocuments(documents: readonly (readonly [string, Schema])[]): Html {
  return html`<section class="group" id="documents"><h2><a class="anchor" href="#documents">Documents</a></h2>
${documents.map(
  ([
    name,
    schema,
  ]) => html`<article class="entry" id="document-${name}"><div><h3><a class="anchor" href="#document-${name}">${name}</a></h3>
${schema.description === undefined ? null : paragraphs(schema.description)}
${fieldTable('Members', fieldsOf(schema))}</div></article>`,
)}</section>`;
}

/** A code sample. @param name tells screen-reader users which sample this is */
function sample(caption: string, code: string, name = caption): Html {
  return html`<figure class="sample"><figcaption>${caption}</figcaption><pre tabindex="0" role="region" aria-label="${name}"><code>${code}</code></pre></figure>`;
}
