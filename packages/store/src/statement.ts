import type { Compilable, Kysely, RawBuilder } from 'kysely';
import type { Schema } from './schema.ts';

/** Compiles statements. It has no connection. */
export type Compiler = Kysely<Schema>;

/** SQL that is compiled once, when it is first used: no process uses every statement. `Values` are the named values that it takes, `Row` is what it returns. */
export interface Statement<Values, Row> {
  readonly sql: string;
  /** The names of the values, in the order of the SQL's parameters. */
  readonly parameters: readonly (keyof Values & string)[];
  /** For the type alone: no statement has this member. */
  readonly row?: Row;
}

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const placeholders = new Proxy({}, { get: (_target, name) => new Placeholder(String(name)) });

/**
 * Compiles a query whose values are given at each run. `build` gets a placeholder for every value by its name; Kysely
 * carries them to the parameters, which shows their order.
 */
export function statement<Values, Row>(build: (values: Values) => Compilable<Row>): Statement<Values, Row> {
  let compiled: Statement<Values, Row> | undefined;
  const compile = (): Statement<Values, Row> => {
    const { sql, parameters } = build(placeholders as Values).compile();
    return { sql, parameters: parameters.map(placeholderName) as (keyof Values & string)[] };
  };
  return {
    get sql() {
      compiled ??= compile();
      return compiled.sql;
    },
    get parameters() {
      compiled ??= compile();
      return compiled.parameters;
    },
  };
}

/** SQL that only one database has, for {@link statement}. */
export function raw<Row>(db: Compiler, query: RawBuilder<Row>): Compilable<Row> {
  return { compile: () => query.compile(db) };
}

function placeholderName(parameter: unknown): string {
  if (parameter instanceof Placeholder) return parameter.name;
  throw new TypeError('A statement holds a value that is no placeholder.');
}

/** The values in the order of the statement's parameters. */
export function bind<Values>(statement: Statement<Values, unknown>, values: Values): Values[keyof Values][] {
  return statement.parameters.map((name) => values[name]);
}
