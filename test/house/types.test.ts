/** What editors and the compiler tell users of the public types. */
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { closedInputs } from './input-types.js'
import { ROOT } from './sources.js'

const { options } = ts.getParsedCommandLineOfConfigFile(
  join(ROOT, 'tsconfig.json'),
  {},
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
)!

/** The modules of hosts: the others are internal seams. */
const MODULES = Object.entries(options.paths!)
  .filter(([name]) => !/\/(adapter|store|simulator)$/.test(name))
  .map(([, [path]]) => path!.slice(2))

/** Types that hosts pass on as they get them, or whose values are those of Node or of a driver. */
const SKIPPED = new Set([
  'Account',
  'BlackholeSource',
  'CheckedEvent',
  'ExportSource',
  'Failure',
  'Health',
  'HttpService',
  'Matchable',
  'Observation',
  'Outcome',
  'PublishedEvent',
  'ServeIo',
  'SqliteHandle',
  'Store',
  'StoreHarness',
  'Webhook',
  'WebhookSettings',
])

const CONSUMER = join(ROOT, 'test/house/consumer.ts')
const HEAD = `import { createHookswitch, memoryStore } from 'hookswitch'
const hs = createHookswitch({ store: memoryStore(), hooks: [{ id: 'device_rebooted' }] })
`

let consumer = ''
let version = 0
const service = ts.createLanguageService({
  getCompilationSettings: () => options,
  getScriptFileNames: () => [CONSUMER, ...MODULES.map((path) => join(ROOT, path))],
  getScriptVersion: (file) => (file === CONSUMER ? String(version) : '0'),
  getScriptSnapshot: (file) => {
    const text = file === CONSUMER ? consumer : ts.sys.readFile(file)
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
  },
  getCurrentDirectory: () => ROOT,
  getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
  fileExists: (file) => file === CONSUMER || ts.sys.fileExists(file),
  readFile: ts.sys.readFile,
  directoryExists: ts.sys.directoryExists,
})

/** Sets the program of a user. */
function write(line: string): void {
  consumer = HEAD + line
  version++
}

/** What an editor offers at `|`. */
function completionsOf(line: string): readonly string[] {
  write(line.replace('|', ''))
  const found = service.getCompletionsAtPosition(CONSUMER, HEAD.length + line.indexOf('|'), {})
  return (found?.entries ?? []).map(({ name }) => name)
}

/** What the compiler says. */
function errorsOf(line: string): readonly string[] {
  write(line)
  return service
    .getSemanticDiagnostics(CONSUMER)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

describe('the types of publish', () => {
  it('complete all kinds of events, of one and of a list', () => {
    const names = completionsOf("hs.publish({ hook: '|' })")
    expect(names).toHaveLength(31)
    expect(names).toEqual(expect.arrayContaining(['channel_create', 'object', 'device_rebooted']))
    expect(completionsOf("hs.publish([{ accountId: 'a', callId: 'c', hook: '|' }])")).toEqual(names)
    expect(completionsOf("hs.publish({ hook: 'channel_create', | })")).toEqual(
      expect.arrayContaining(['accountId', 'callId', 'direction', 'callerIdNumber']),
    )
  })

  it('suggest the kind or the field that was meant', () => {
    const event = "accountId: 'a', callId: 'c'"
    for (const argument of [`{ hook: 'channel_creat', ${event} }`, `[{ hook: 'channel_creat', ${event} }]`]) {
      const [error, ...others] = errorsOf(`hs.publish(${argument})`)
      expect(error).toContain(`Did you mean '"channel_create"'?`)
      expect([error?.includes('overload'), others]).toEqual([false, []])
    }
    expect(errorsOf("hs.publish({ hook: 'channel_create', accountId: 'a' })")[0]).toContain(
      "Property 'callId' is missing",
    )
    expect(errorsOf(`hs.publish({ hook: 'channel_create', ${event}, caller: 1 })`)[0]).toContain(
      "'caller' does not exist",
    )
    expect(errorsOf(`hs.publish({ hook: 'channel_create', ${event} })`)).toEqual([])
  })
})

it('every optional field that a host may set accepts undefined', () => {
  write('')
  const found = closedInputs(service.getProgram()!, ROOT, MODULES, SKIPPED).map(({ name }) => name)
  // Documents of the HTTP API are both sent and received.
  const isDocument = (name: string) => /operations\.generated\.ts: (?!\w+Parameters\.)/.test(name)
  expect(found.filter((name) => !isDocument(name))).toEqual([])
})
