import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { errorCode } from 'hookswitch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { CONFIG_SCHEMA, publishedConfigSchema } from '../../../adapters/cli/config-schema.js'
import { collectProblems } from '../../../adapters/cli/problems.js'
import { readSettings } from '../../../adapters/cli/read-settings.js'
import { limitsOf } from '../../../adapters/cli/reload.js'
import { checkServiceOptions, serviceOptions } from '../../../adapters/cli/service-options.js'
import { findProblems, type SettingSchema } from '../../../adapters/cli/setting-schema.js'
import { SETTING_NAMES, SETTINGS, settingOf } from '../../../adapters/cli/settings.js'
import { LIMIT_NAMES } from '../../../src/options/limits.js'
import { read } from '../../house/sources.js'
import { propertyRuns } from '../../support/property-runs.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'schema-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Settings whose valid values depend on other settings, on files or on the machine. */
const DEPENDENT =
  /^(tls\.|data$|postgres$|memory$|accounts$|account|secret$|proxy$|allow$|trustProxy$|cors$|freeswitch|asterisk|kamailio|hooks$|http\.|schema$|defaultMaxAge)/

const number = ({ minimum = -1e6, maximum = 1e6 }: SettingSchema) =>
  fc.double({ min: minimum, max: maximum, noNaN: true })

/** Values that follow a schema. */
function valid(schema: SettingSchema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valid))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({
        min: schema.minimum ?? -100,
        max: Math.min(schema.maximum ?? 100, 2_147_483_647),
      })
    case 'number':
      return number(schema)
    case 'array':
      return fc.array(valid(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 3 })
    case 'object': {
      const properties = Object.entries(schema.properties ?? {}).map(([name, rule]) => [name, valid(rule)])
      const requiredKeys = [...(schema.required ?? [])] as never[]
      return fc.record(Object.fromEntries(properties), { requiredKeys })
    }
    default:
      return schema.pattern === undefined
        ? fc.string({ minLength: schema.minLength ?? 0, maxLength: 20 })
        : fc.stringMatching(new RegExp(schema.pattern, 'u'))
  }
}

/** Values that may or may not follow a schema. */
function nearlyValid(schema: SettingSchema): fc.Arbitrary<unknown> {
  const { properties } = schema
  const scalar = fc.constantFrom<unknown>(
    '',
    'x',
    'false',
    0,
    1,
    -1,
    1.5,
    1e12,
    true,
    false,
    null,
    [],
    {},
    ['x'],
    [0],
  )
  if (!properties) return fc.oneof({ weight: 3, arbitrary: valid(schema) }, { weight: 1, arbitrary: scalar })
  const members = Object.entries(properties).map(([name, rule]) => [name, nearlyValid(rule)])
  const record = fc.record(Object.fromEntries(members), { requiredKeys: [] }) as fc.Arbitrary<object>
  const unknown = fc.tuple(record, fc.constantFrom('prot', 'Port', '__proto__', 'constructor', ''), scalar)
  return fc.oneof(
    { weight: 6, arbitrary: record },
    { weight: 1, arbitrary: unknown.map(([document, key, value]) => ({ ...document, [key]: value })) },
    { weight: 1, arbitrary: scalar },
  )
}

/** Cuts a generated document down to a few settings, so that some of them are valid. */
const fewOf = (schema: SettingSchema) => {
  const { properties = {} } = schema
  return fc
    .subarray(Object.entries(properties), { minLength: 1, maxLength: 4 })
    .map((entries) => ({ ...schema, properties: Object.fromEntries(entries) }))
}

const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: false })

describe('the JSON Schema of configuration files', () => {
  it('accepts exactly the documents that the program accepts', () => {
    const isValid = ajv.compile(publishedConfigSchema())
    const counts = { valid: 0, invalid: 0 }
    fc.assert(
      fc.property(fewOf(CONFIG_SCHEMA).chain(nearlyValid), (document) => {
        const isAccepted = findProblems(CONFIG_SCHEMA, document).length === 0
        counts[isAccepted ? 'valid' : 'invalid']++
        expect([document, isAccepted]).toEqual([document, isValid(document)])
      }),
      { numRuns: propertyRuns(600) },
    )
    expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(20)
  })

  it('describes every setting that a file can contain', () => {
    const described = Object.entries(CONFIG_SCHEMA.properties ?? {}).flatMap(
      ([name, { properties, description }]) =>
        description === undefined && properties
          ? Object.keys(properties).map((inner) => `${name}.${inner}`)
          : [name],
    )
    const names = SETTING_NAMES.filter((name) => settingOf(name).isInFile !== false)
    expect(described.sort()).toEqual(['$schema', ...names].sort())
  })
})

describe('the table of settings', () => {
  it('has every option of createHookswitch that is data', () => {
    const source = read('src/options/options.ts')
    const [, body = ''] = /export interface HookswitchOptions[^{]*\{([\s\S]*?)^\}/m.exec(source) ?? []
    const options = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name!)
    const ports = [
      ...[
        'store',
        'directory',
        'policies',
        'log',
        'metrics',
        'tracing',
        'clock',
        'random',
        'sender',
        'resolver',
        // The program runs until it is stopped.
        'ref',
      ],
    ]
    const groups = new Set(SETTING_NAMES.map((name) => name.split('.')[0]!))
    expect(options.length).toBeGreaterThan(30)
    expect(options.filter((name) => !ports.includes(name) && !groups.has(name))).toEqual([])
  })

  it('has defaults that are valid', () => {
    for (const name of SETTING_NAMES) {
      const { schema, default: value } = settingOf(name)
      if (value !== undefined) expect([name, findProblems(schema, value)]).toEqual([name, []])
    }
  })

  it('says of exactly the limits of setLimits, the accounts and the log level that they can be reloaded', () => {
    const reloadable = SETTING_NAMES.filter((name) => settingOf(name).reloadable)
    expect([...reloadable].sort()).toEqual([...LIMIT_NAMES, 'accounts', 'logLevel'].sort())
    const defaults = Object.fromEntries(SETTING_NAMES.map((name) => [name, settingOf(name).default]))
    expect(Object.keys(limitsOf(defaults as never)).sort()).toEqual([...LIMIT_NAMES].sort())
    expect(limitsOf({ loginBurst: 'unlimited' })).toMatchObject({ loginBurst: Number.POSITIVE_INFINITY })
  })
})

/** The default of `defaultMaxAgeSeconds`, a day. */
const DEFAULT_MAX_AGE_MS = 86_400_000

/** The schema of settings that do not depend on each other. */
const INDEPENDENT: SettingSchema = {
  ...CONFIG_SCHEMA,
  properties: Object.fromEntries(
    Object.entries(CONFIG_SCHEMA.properties ?? {}).filter(
      ([name]) => Object.hasOwn(SETTINGS, name) && !DEPENDENT.test(name),
    ),
  ),
}

describe('a configuration', () => {
  let files = 0
  async function settingsOf(document: unknown, isYaml: boolean) {
    const path = join(folder, `${files++}.${isYaml ? 'yaml' : 'json'}`)
    await writeFile(path, isYaml ? stringify(document) : JSON.stringify(document, null, 2))
    return { path, settings: await readSettings(['--config', path], {}) }
  }

  it('that is valid comes back unchanged from JSON and YAML, and createHookswitch accepts its options', async () => {
    await fc.assert(
      fc.asyncProperty(valid(INDEPENDENT), fc.boolean(), async (document, isYaml) => {
        const { settings } = await settingsOf(document, isYaml)
        expect(settings.values).toMatchObject(document as object)
        const { retryPolicy } = document as {
          retryPolicy?: { baseMs?: number; capMs?: number; delayMs?: number; delaysMs?: readonly number[] }
        }
        // Limits that depend on each other are checked by createHookswitch.
        const isOrdered = ({ first = 0, capMs = Number.POSITIVE_INFINITY }) => first <= capMs
        fc.pre(isOrdered({ first: retryPolicy?.baseMs ?? 2_000, ...cap(retryPolicy) }))
        const { baseMs, delayMs = baseMs, delaysMs: [firstMs = delayMs ?? 0] = [] } = retryPolicy ?? {}
        fc.pre(firstMs < DEFAULT_MAX_AGE_MS)
        const problems = collectProblems()
        await checkServiceOptions(settings, await serviceOptions(settings, problems), problems)
        expect(problems.errors).toEqual([])
      }),
      { numRuns: propertyRuns(60) },
    )
  })

  it('with one wrong value is rejected in one sentence that names file, line, column and field', async () => {
    const names = Object.keys(CONFIG_SCHEMA.properties ?? {}).filter((name) => name !== '$schema')
    const wrong = fc.constantFrom<unknown>(null, -1, '', {}, [[]], 'hunter2!', 1e300)
    const base = valid(INDEPENDENT)
    await fc.assert(
      fc.asyncProperty(
        base,
        fc.constantFrom(...names),
        wrong,
        fc.boolean(),
        async (document, name, value, isYaml) => {
          const changed = { ...(document as object), [name]: value }
          fc.pre(findProblems(CONFIG_SCHEMA, changed).length > 0)
          const thrown = await settingsOf(changed, isYaml).then(
            () => undefined,
            (thrown: unknown) => thrown,
          )
          expect(errorCode(thrown)).toBe('InvalidOption')
          const { message } = thrown as Error
          expect(message.startsWith(join(folder, ''))).toBe(true)
          expect(message).toMatch(new RegExp(`\\.(json|yaml):\\d+:\\d+: ${name}[.\\w[\\]]*: [^\\n]+$`))
          expect(message).not.toContain('hunter2')
        },
      ),
      { numRuns: propertyRuns(100) },
    )
  })

  it('that is cut or has one wrong character is valid or rejected in one sentence with its place', async () => {
    const text = JSON.stringify(
      {
        port: 1,
        host: 'a',
        cors: ['*'],
        autoDisable: { kind: 'silent', afterMs: 3, exhausted: 1 },
        log: 'json',
      },
      null,
      1,
    )
    const mutation = fc.tuple(
      fc.nat({ max: text.length }),
      fc.constantFrom('', '"', '{', '}', ',', ':', 'é', '\n', '\t', '#', '-'),
    )
    await fc.assert(
      fc.asyncProperty(mutation, fc.boolean(), fc.boolean(), async ([at, inserted], isCut, isYaml) => {
        const path = join(folder, `mutated.${isYaml ? 'yaml' : 'json'}`)
        await writeFile(path, text.slice(0, at) + inserted + (isCut ? '' : text.slice(at)))
        await readSettings(['--config', path], {}).catch((thrown: Error) => {
          expect(errorCode(thrown)).toBe('InvalidOption')
          expect(thrown.message).toMatch(/mutated\.(json|yaml):\d+:\d+: [^\n]+$/)
        })
      }),
      { numRuns: propertyRuns(150) },
    )
  })
})

const cap = (policy: { capMs?: number } | undefined) =>
  policy?.capMs === undefined ? {} : { capMs: policy.capMs }
