import { createHookswitch, memoryStore } from 'hookswitch'
import { OPTIONAL_HOOKS } from 'hookswitch/freeswitch'
import { describe, expect, it } from 'vitest'
import { EXIT_CODES } from '../../adapters/cli/commands/command-help.js'
import { COMMANDS } from '../../adapters/cli/commands/command-table.js'
import { COMMAND_VARIABLES } from '../../adapters/cli/commands/command-variables.js'
import { CONFIG_SCHEMA } from '../../adapters/cli/config-schema.js'
import {
  MAIN_HELP,
  MIGRATE_HELP,
  ROTATE_SECRET_HELP,
  SERVE_HELP,
  VACUUM_HELP,
} from '../../adapters/cli/help.js'
import { flagOf, SETTING_OF_VARIABLE } from '../../adapters/cli/setting-names.js'
import { findProblems } from '../../adapters/cli/setting-schema.js'
import type { SettingName } from '../../adapters/cli/settings.js'
import { SWITCH_PARAMETERS } from '../../adapters/cli/switch-table.js'
import { KNOWN_VARIABLES } from '../../adapters/cli/unknown-variables.js'
import { parseYaml } from '../../adapters/cli/yaml-places.js'
import { eventSchema } from '../../src/delivery/event-schema.js'
import { LIFECYCLE } from '../../src/delivery/lifecycle.js'
import { POLICY_PRESETS } from '../../src/delivery/policy.js'
import { HookswitchError } from '../../src/errors.js'
import { ERROR_NAMES } from '../../src/http/error-response.js'
import { METRICS, type MetricShape } from '../../src/metrics.js'
import { normalizeOptions } from '../../src/options/normalize.js'
import { OPTION_DEFAULTS } from '../../src/options/options.js'
import { FAILURE_CAUSES } from '../../src/values/failure-cause.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { isMetaHook } from '../../src/webhooks/meta-hooks.js'
import { SETTINGS_DEFAULTS } from '../../src/webhooks/settings.js'
import { listedAttemptJson } from '../../src/wire/attempt-json.js'
import { deliveryJson } from '../../src/wire/delivery-json.js'
import * as errorBodies from '../../src/wire/error-body.js'
import { SETTING_NAMES } from '../../src/wire/field-names.js'
import { LIST_PARAMETERS } from '../../src/wire/openapi/components.js'
import { replayJobJson } from '../../src/wire/replay-json.js'
import { ROUTES } from '../../src/wire/routes.js'
import { sourceFiles } from '../house/sources.js'
import { blocks, code, codes, PAGES, prose, read, sorted, table } from './pages.js'

const PACKAGE = JSON.parse(read('package.json'))
const API = 'docs/embed/api.md'
const METRICS_PAGE = 'docs/operate/metrics-and-alerts.md'

/** The fields of an interface, or the methods where `isMethod`. */
function members(path: string, name: string, isMethod = false): readonly string[] {
  const source = read(path)
  const [declared = ''] = new RegExp(`export interface ${name}\\b[\\s\\S]*?^}`, 'm').exec(source) ?? []
  const pattern = isMethod ? /^ {2}(\w+)\??\(/gm : /^ {2}readonly (\w+)\??:/gm
  const found = [...declared.matchAll(pattern)].map(([, member]) => member!)
  if (found.length === 0) throw new Error(`${path} has no interface ${name}`)
  return found
}

/** The members of a union of string literals. */
function literals(path: string, name: string): readonly string[] {
  const [declared = ''] =
    new RegExp(`export type ${name} =[\\s\\S]*?(?=\\n\\n|\\nexport)`).exec(read(path)) ?? []
  return [...declared.matchAll(/'([^']+)'/g)].map(([, literal]) => literal!)
}

const firstCodes = (page: string, after: string) => table(page, after).flatMap(([cell]) => codes(cell))
const number = (text: string | undefined) => text?.replace(/_/g, '')

describe('the table of options', () => {
  const page = 'docs/embed/options.md'

  it('lists every option, with its default', () => {
    const names = members('src/options/options.ts', 'HookswitchOptions')
    const rows = table(page, '| Option |')
    expect(sorted(rows.map(([name]) => code(name)!))).toEqual(sorted(names))

    const documented = new Map(rows.map(([name, byDefault]) => [code(name)!, code(byDefault)]))
    const options = normalizeOptions({ store: memoryStore() }, undefined)
    for (const [name, value] of Object.entries(OPTION_DEFAULTS)) {
      expect([name, number(documented.get(name))]).toEqual([name, String(value)])
    }
    expect(options.defaultFormat).toBe(documented.get('defaultFormat'))
    expect(options.retryPolicy).toBe(POLICY_PRESETS[documented.get('retryPolicy') as 'standard'])
    expect([options.cors, options.trustProxy, options.policies]).toEqual([[], [], {}])
  })

  it.each([
    [
      'docs/embed/sqlite.md',
      'adapters/storage/sqlite/options.ts',
      ['SqliteFileOptions', 'SqliteDatabaseOptions'],
    ],
    [
      'docs/embed/postgres.md',
      'adapters/storage/postgres/options.ts',
      ['PostgresConnectionOptions', 'PostgresPoolOptions'],
    ],
    ['docs/embed/express.md', 'adapters/http/node.ts', ['ServerOptions']],
    ['docs/http/websockets.md', 'adapters/blackhole/options.ts', ['BlackholeOptions']],
    ['docs/embed/custom-events.md', 'src/webhooks/catalogue.ts', ['CustomHook']],
  ])('lists every option in %s', (own, source, interfaces) => {
    const common = source.includes('postgres') ? ['schema', 'answerWithinMs', 'clock'] : []
    const names = new Set([...interfaces.flatMap((name) => members(source, name)), ...common])
    const head = own.endsWith('custom-events.md') ? '| Field |' : '| Option'
    expect(sorted(firstCodes(own, head))).toEqual(sorted(names))
  })

  it('lists every option of every source of switch events', () => {
    const folder = 'adapters/telephony'
    const names = new Set([
      ...members(`${folder}/source/options.ts`, 'SourceOptions'),
      ...members(`${folder}/source/options.ts`, 'OpenLegsOption'),
      ...members(`${folder}/source/optional-hooks.ts`, 'OptionalHooksOption'),
      ...members(`${folder}/freeswitch/options.ts`, 'FreeswitchOptions'),
      ...members(`${folder}/freeswitch/options.ts`, 'FreeswitchSourceOptions'),
      ...members(`${folder}/asterisk/leg-options.ts`, 'LegOptions'),
      ...members(`${folder}/asterisk/ami.ts`, 'AsteriskAmiOptions'),
      ...members(`${folder}/asterisk/ari.ts`, 'AsteriskAriOptions'),
      ...members(`${folder}/kamailio/options.ts`, 'KamailioSourceOptions'),
    ])
    expect(new Set(firstCodes('docs/switches/README.md', '| Option |'))).toEqual(names)
    const outbound = members(`${folder}/freeswitch/outbound-options.ts`, 'FreeswitchOutboundOptions')
    expect(sorted(firstCodes('docs/switches/freeswitch.md', '| Option |'))).toEqual(sorted(outbound))
  })
})

describe('the page of all switches', () => {
  it('lists every hook that a source publishes only if it is selected', () => {
    const [, section = ''] =
      /## More of a call\n([\s\S]*?)\n`optionalHooks`/.exec(read('docs/switches/README.md')) ?? []
    const listed = section.split('\n').flatMap((row) => codes(row.split('|')[1] ?? ''))
    expect(listed).toEqual([...OPTIONAL_HOOKS])
    const kinds = new Set(catalogueOf().map(({ id }) => id))
    expect(OPTIONAL_HOOKS.filter((hook) => !kinds.has(hook))).toEqual([])
  })

  it('lists every event and every figure of a source', () => {
    const page = 'docs/switches/README.md'
    const folder = 'adapters/telephony/source'
    const [declared = ''] = /type SourceEvents[\s\S]*?^}/m.exec(read(`${folder}/event-pipeline.ts`)) ?? []
    const events = [...declared.matchAll(/^ {2}(?:readonly )?(\w+):/gm)].map(([, name]) => name!)
    expect(firstCodes(page, '| `source.events` |')).toEqual(events)
    const figures = [
      ...members(`${folder}/switch-source.ts`, 'SourceStatus'),
      ...members(`${folder}/source-figures.ts`, 'ConnectionState'),
      ...members(`${folder}/source-figures.ts`, 'PipelineCounts'),
    ]
    const [, sentence = ''] = /`source\.status\(\)` has ([^.]*)/.exec(read(page)) ?? []
    expect(codes(sentence)).toEqual(figures)
  })
})

describe('the tables of the program', () => {
  const page = 'docs/operate/configuration.md'

  it.each([
    ['migrate', MIGRATE_HELP],
    ['rotate-secret', ROTATE_SECRET_HELP],
    ['vacuum', VACUUM_HELP],
  ])('list every flag of hookswitch %s, with its default', (command, help) => {
    const flags = [...help.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag!)
    const rows = table(page, `\n## hookswitch ${command}`)
    expect(rows.map(([flag]) => code(flag)?.split(' ')[0])).toEqual(flags)
    for (const [flag, byDefault] of rows) {
      const [name] = code(flag)!.split(' ')
      const value = code(byDefault)
      if (value === undefined || value.startsWith('HOOKSWITCH_')) continue
      const [, entry = ''] = new RegExp(`\\n {2}${name} ([\\s\\S]*?)(?=\\n {2}-|\\n\\n)`).exec(help) ?? []
      expect([name, entry.includes(`(${value})`)]).toEqual([name, true])
    }
  })

  it('list every setting, and no page names a variable that does not exist', () => {
    const [, ...groups] = read('docs/operate/settings.md').split('\n## ')
    const rows = groups.flatMap((group) =>
      table('docs/operate/settings.md', `\n## ${group.split('\n')[0]}\n`),
    )
    expect(rows.flatMap(([, , variable]) => codes(variable))).toEqual([...SETTING_OF_VARIABLE.keys()])
    for (const other of PAGES) {
      for (const name of read(other).match(/\bHOOKSWITCH_[A-Z_]+[A-Z]/g) ?? [])
        expect([other, name, KNOWN_VARIABLES.has(name)]).toEqual([other, name, true])
    }
  })

  it('list every variable of the commands, as their help does', () => {
    const inHelp = new Set(MAIN_HELP.match(/\bHOOKSWITCH_[A-Z_]+/g))
    expect(sorted(COMMAND_VARIABLES)).toEqual(sorted(inHelp))
    expect(firstCodes(page, '\n## Variables of the commands')).toEqual([...COMMAND_VARIABLES])
  })

  it('show configuration files that are valid', () => {
    const examples = blocks(page, 'yaml')
    expect(examples.length).toBeGreaterThan(1)
    for (const example of examples)
      expect([example, findProblems(CONFIG_SCHEMA, parseYaml(example).value)]).toEqual([example, []])
  })

  it('list every command for a running service, with its operands, and every exit code', () => {
    const usages = COMMANDS.map(({ words, operands = [] }) =>
      [...words, ...operands.map(({ name, isOptional }) => (isOptional ? `[${name}]` : name))].join(' '),
    )
    expect(firstCodes('docs/operate/commands.md', '| Command |')).toEqual(usages)
    const rows = table('docs/operate/commands.md', '| Exit code |').map(([exitCode]) => Number(exitCode))
    expect(rows).toEqual(EXIT_CODES.map(([exitCode]) => exitCode))
  })

  it('list every option of the client, and every code of its errors', () => {
    const page = 'docs/http/client.md'
    expect(sorted(firstCodes(page, '| Option |'))).toEqual(
      sorted(members('adapters/client/client.ts', 'ClientOptions').filter((name) => name !== 'clock')),
    )
    expect(sorted(firstCodes(page, '| Call option |'))).toEqual(
      sorted(members('adapters/client/call.ts', 'CallOptions')),
    )
    const codes = [...read('adapters/client/error.ts').matchAll(/^ {2}\| '(\w+)'$/gm)].map(
      ([, name]) => name!,
    )
    expect(firstCodes(page, '| Code |')).toEqual(codes)
  })

  it('list the ways to find the account of a call', () => {
    const [, ways = ''] = /\n {2}--account-from ([\s\S]*?)\n\n/.exec(SERVE_HELP) ?? []
    const listed = [
      ...table('docs/switches/freeswitch.md', '| Ready'),
      ...table('docs/switches/asterisk.md', '| Ready'),
    ].map(([, flag]) => code(flag)!)
    for (const way of listed) expect([way, ways.includes(way)]).toEqual([way, true])
    expect(new Set(listed).size).toBe(6)
  })
})

describe('the parameters of a switch', () => {
  const rows = table('docs/operate/configuration.md', '| Parameter |')

  it('are listed with the flags that have them', () => {
    const parameters = Object.entries(SWITCH_PARAMETERS).map(
      ([name, readers]) => [flagOf(name as SettingName), sorted(Object.keys(readers))] as const,
    )
    const documented = Object.fromEntries(
      parameters.map(([flag]) => [
        flag,
        sorted(rows.flatMap(([name, , of]) => (of === 'all' || codes(of).includes(flag) ? codes(name) : []))),
      ]),
    )
    expect(documented).toEqual(Object.fromEntries(parameters))
  })

  it('are listed by --help, with their defaults', () => {
    for (const [name, byDefault] of rows) {
      const [, entry = ''] =
        new RegExp(`\\n {2}${code(name)}=([\\s\\S]*?)(?=\\n {2}[a-z]|\\n\\n)`).exec(SERVE_HELP) ?? []
      const value = code(byDefault)
      const isShown =
        value === undefined || value.startsWith('--') || new RegExp(`\\(${value}[;)]`).test(entry)
      expect([name, entry !== '' && isShown]).toEqual([name, true])
    }
  })
})

describe('the runbook', () => {
  it('quotes messages that the program prints', () => {
    const sources = sourceFiles('src', 'adapters').map(read).join('\n')
    const rows = table('docs/operate/runbook.md', '\n## A node does not start')
    const rollback = codes(read('docs/operate/upgrade-and-rollback.md')).filter((text) =>
      /…|^migrated /.test(text),
    )
    const fragments = [...rows.flatMap(([cell]) => codes(cell)), ...rollback, 'holds an old snapshot']
      .flatMap((message) => message.replace(/^(--[a-z]+|HOOKSWITCH_[A-Z]+): ?/, '').split(/ ?\(?…\)?/))
      .map((text) => text.trim())
      .filter((text) => text.length > 8)
    expect(fragments.length).toBeGreaterThan(10)
    for (const text of fragments) expect([text, sources.includes(text)]).toEqual([text, true])
  })

  it('quotes explanations of deliveries as they are given', () => {
    const source = read('src/delivery/explain.ts')
    const quoted = [...prose('docs/operate/runbook.md').matchAll(/"((?:Waits|Paused|Quarantined)[^"]*)"/g)]
    expect(quoted.length).toBeGreaterThan(4)
    for (const [, sentence] of quoted) {
      for (const part of sentence!.split('…').map((text) => text.trim()))
        expect([part, source.includes(part)]).toEqual([part, true])
    }
  })
})

describe('the tables of the HTTP API', () => {
  it('list every route, and which need a token', () => {
    const rows = table('docs/http/reference.md', '\n## Routes').map(([method, path, does = '']) => [
      method,
      code(path),
      !does.startsWith('○'),
    ])
    const routes = ROUTES.map(({ method, path, requiresToken }) => [method, path, requiresToken])
    expect(sorted(rows.map(String))).toEqual(sorted(routes.map(String)))
  })

  it('list every parameter of a list', () => {
    const names = firstCodes('docs/http/paging.md', '| Parameter |').map((name) =>
      name.replace(/<field>$/, ''),
    )
    const expected = LIST_PARAMETERS.flatMap((name) =>
      name === 'filters' ? ['filter_', 'filter_not_'] : [name],
    )
    expect(sorted(names)).toEqual(sorted(expected))
  })

  it('list every error, by status and name', () => {
    const { toHttpError, badIdentifier, bodyTooLarge, methodNotAllowed, notImplemented, tooManyBodyBytes } =
      errorBodies
    const { validationError } = errorBodies
    const constants = Object.values(errorBodies).filter((value) => typeof value === 'object')
    const thrown = literals('src/errors.ts', 'ErrorCode').map((code) =>
      toHttpError(new HookswitchError(code as 'Internal', '')),
    )
    const hasDescendants = new HookswitchError('Conflict', '', { field: 'descendants' })
    const made = [
      badIdentifier('x'),
      bodyTooLarge(1),
      methodNotAllowed('GET'),
      notImplemented('x'),
      validationError([]),
      tooManyBodyBytes(503, 1),
      tooManyBodyBytes(429, 1),
      toHttpError(hasDescendants),
    ]
    const expected = new Set([
      ...[...constants, ...thrown, ...made].map(({ status, name }) => `${status} ${name}`),
      ...Object.entries(ERROR_NAMES).map(([status, name]) => `${status} ${name}`),
    ])
    const rows = table('docs/http/errors.md', '| Status |').map(([status, name]) => `${status} ${code(name)}`)
    // A name may have several rows: one for each cause.
    expect(sorted(new Set(rows))).toEqual(sorted(expected))
  })

  it('list every field of a webhook, with its default, and every kind of event', () => {
    const rows = table(API, '\n## A webhook')
    expect(rows.map(([field]) => code(field))).toEqual(Object.keys(SETTING_NAMES))
    const defaults = new Map<string, unknown>(Object.entries(SETTINGS_DEFAULTS))
    for (const [field, byDefault] of rows) {
      const inside = SETTING_NAMES[code(field) as keyof typeof SETTING_NAMES]
      const required = ['name', 'uri', 'hook'].includes(inside)
      const expected = defaults.has(inside) ? `\`${defaults.get(inside)}\`` : required ? 'required' : 'none'
      expect([field, byDefault]).toEqual([field, expected])
    }
    const hooks = rows.find(([field]) => field === '`hook`')![2]!
    const listed = [...hooks.matchAll(/`(\w+)`/g)].map(([, id]) => id!)
    expect(sorted(listed)).toEqual(sorted([...catalogueOf().map(({ id }) => id), 'all']))
  })

  it('list every field of a replay', () => {
    const job = replayJobJson({ request: {}, createdMs: 0, leftOut: [] } as never)
    const names = ['| HTTP | JavaScript | Selects', 'A job has'].flatMap((after) => firstCodes(API, after))
    expect(sorted(names)).toEqual(sorted(Object.keys(job)))
  })

  it('list every field of an attempt, of a delivery and of an event', () => {
    const attempt = listedAttemptJson({ method: 'POST', atMs: 0 } as never)
    expect(sorted(firstCodes(API, '\n## An attempt'))).toEqual(sorted(Object.keys(attempt)))
    const delivery = deliveryJson({ state: 'delivered', lane: '', acceptedMs: 0 } as never, { code: 'due' })
    expect(sorted(firstCodes(API, '\n## A delivery'))).toEqual(sorted(Object.keys(delivery)))
    expect(sorted(firstCodes(API, '\n## An event'))).toEqual(sorted(Object.keys(eventSchema.properties)))
  })
})

describe('the tables of the API', () => {
  it('list everything that a service offers, and every event that it emits', () => {
    const hs = createHookswitch({ store: memoryStore() })
    const methods = (after: string) => firstCodes(API, after).map((text) => text.replace(/^hs\.|[.(].*/g, ''))
    const groups = ['webhooks', 'operator', 'replays', 'accounts', 'auth'] as const
    for (const member of groups) {
      expect(sorted(methods(`| \`hs.${member}\` |`))).toEqual(sorted(Object.keys(hs[member])))
    }
    const names = Object.keys(hs).filter((name) => !['node', ...groups].includes(name))
    const listed = methods('| Member |').filter((name) => !['once', 'off'].includes(name))
    expect(sorted(listed)).toEqual(sorted(names))

    expect(sorted(firstCodes(API, '| `hs.events` |'))).toEqual(
      sorted([
        ...[
          'event',
          'event_refused',
          'audit',
          'attempt',
          'webhook_paused',
          'webhook_resumed',
          'webhook_disabled',
        ],
        'webhook_backlog_full',
        'webhook_failing',
        ...catalogueOf().flatMap(({ id }) => (isMetaHook(id) ? [] : [id])),
        ...finalStates,
      ]),
    )
  })

  const finalStates = Object.entries(LIFECYCLE).flatMap(([state, steps]) =>
    Object.keys(steps).length === 0 ? [state] : [],
  )

  it('list every error code', () => {
    expect(sorted(firstCodes(API, '| Code |'))).toEqual(sorted(literals('src/errors.ts', 'ErrorCode')))
  })

  it('list every entry point of the package', () => {
    const entries = Object.keys(PACKAGE.exports)
      .filter((name) => name !== './package.json')
      .map((name) => name.replace(/^\./, 'hookswitch'))
    expect(sorted(firstCodes(API, '| Import |').filter((name) => name.startsWith('hookswitch')))).toEqual(
      sorted(entries),
    )
  })

  it('list every method of a directory, and every field of an account', () => {
    const page = 'docs/embed/directory.md'
    const rows = table(page, '| Method |')
    expect(rows.map(([method]) => code(method)?.replace(/\(.*/, ''))).toEqual(
      members('src/accounts/directory.ts', 'Directory', true),
    )
    const [account = ''] = read('src/accounts/account.ts').match(/export interface Account [\s\S]*?^}/m) ?? []
    const fields = [...account.matchAll(/^ {2}readonly (\w+\??):/gm)].map(([, name]) => name!)
    expect(read(page)).toContain(`\`{ ${fields.join(', ')} }\``)
  })

  it('list every capability and part of a store', () => {
    const page = 'docs/embed/custom-store.md'
    expect(firstCodes(page, '| `supports` |')).toEqual(members('src/store/contract.ts', 'StoreSupports'))
    const parts = members('src/store/contract.ts', 'Store').filter((name) => name !== 'supports')
    expect(firstCodes(page, '| Part |')).toEqual(parts)
  })
})

describe('the tables of delivery', () => {
  const page = 'docs/concepts/delivery.md'

  it('list every state with its next states', () => {
    const rows = table(page, '\n## States').map(([state, next]) => [code(state), sorted(codes(next))])
    const expected = Object.entries(LIFECYCLE).map(([state, steps]) => [
      state,
      sorted(new Set(Object.values(steps))),
    ])
    expect(rows).toEqual(expected)
  })

  it('list every outcome of an attempt', () => {
    const { values } = METRICS.hookswitch_attempts_total
    expect(firstCodes(page, '\n## Outcomes')).toEqual([...values])
  })

  it('list every cause with its sentence', () => {
    const rows = table(page, '\n### Causes').map(([cause, meaning]) => [code(cause), meaning])
    expect(rows).toEqual(Object.entries(FAILURE_CAUSES))
  })

  it('are the causes that other pages name', () => {
    const named = PAGES.flatMap((page) =>
      [...read(page).matchAll(/`(?:"cause": "|cause: )([a-z_]+)"?`/g)].map(([, cause]) => cause!),
    )
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((cause) => !Object.hasOwn(FAILURE_CAUSES, cause))).toEqual([])
  })

  it('list the limits with the defaults of the options', () => {
    for (const [, byDefault = '', option] of table(page, '\n## Capacity')) {
      const name = code(option) as keyof typeof OPTION_DEFAULTS
      const expected = OPTION_DEFAULTS[name] ?? 'a fifth of `maxPending`'
      expect([name, byDefault.replaceAll(',', '')]).toEqual([name, String(expected)])
    }
  })

  it('list every retry policy', () => {
    expect(sorted(firstCodes('docs/concepts/retries.md', '| Preset |'))).toEqual(
      sorted(Object.keys(POLICY_PRESETS)),
    )
  })
})

describe('the table of metrics', () => {
  it('lists every metric, with its label and all its values', () => {
    const rows = table(METRICS_PAGE, '| Metric |').map(([name, label]) => [code(name), codes(label)])
    const shapes = Object.entries(METRICS) as [string, MetricShape][]
    expect(rows).toEqual(
      shapes.map(([name, { label, values }]) => [name, label ? [label, ...(values ?? [])] : []]),
    )
  })

  it('knows every metric and label value that a page names', () => {
    const shapes = new Map<string, MetricShape>(Object.entries(METRICS))
    for (const page of PAGES) {
      for (const [, name = '', label, value] of read(page).matchAll(
        /\b(hookswitch_[a-z_]+_(?:total|seconds)|hookswitch_(?:deliveries_pending|in_flight|endpoints_paused))\b(?:\{(\w+)="(\w+)"\})?/g,
      )) {
        const shape = shapes.get(name)
        expect([page, name, shape !== undefined]).toEqual([page, name, true])
        if (label) expect([shape?.label, shape?.values?.includes(value!)]).toEqual([label, true])
      }
    }
  })
})
