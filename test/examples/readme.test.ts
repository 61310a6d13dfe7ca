import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  catalogueOf,
  createHookswitch,
  LIFECYCLE,
  METRICS,
  type MetricShape,
  memoryStore,
  OPTION_DEFAULTS,
  POLICY_PRESETS,
  SETTINGS_DEFAULTS,
} from 'hookswitch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SERVE_HELP } from '../../adapters/cli/help.js'
import { checkOptions } from '../../src/check-options.js'
import { attemptDoc } from '../../src/wire/attempt-doc.js'
import { deliveryDoc } from '../../src/wire/delivery-doc.js'
import { SETTING_NAMES } from '../../src/wire/names.js'
import { ROUTES } from '../../src/wire/route.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** The fenced blocks of one language. */
function blocks(language: string): string[] {
  return [...README.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, tag]) => tag === language)
    .map(([, , text]) => text!)
}

/** The rows of the first table after this heading, or after this text, as cells without markup of code. */
function table(after: string): string[][] {
  const lines = README.slice(README.indexOf(after)).split('\n')
  const start = lines.findIndex((line) => line.startsWith('|'))
  const rows = lines.slice(start + 2)
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .map((line) =>
      line
        .slice(2, -2)
        .split(/(?<!\\) \| ?|(?<!\\)\| /)
        .map((cell) => cell.trim()),
    )
}

const code = (cell = '') => /^`([^`]*)`$/.exec(cell)?.[1]
/** Everything in a cell that is marked as code. */
const codes = (cell = '') => [...cell.matchAll(/`([^`]*)`/g)].map(([, text]) => text!)
const sorted = (names: Iterable<string>) => [...names].sort()

/** Stands in for `@hono/node-server`: asks the app once, as a client at that address, and says what it answered. */
const HONO_SERVER = `export function serve({ fetch, port }) {
  const env = { incoming: { socket: { remoteAddress: '192.0.2.1' } } }
  const request = new Request(\`http://127.0.0.1:\${port}/telephony/v1/webhooks\`)
  globalThis.asked = Promise.resolve(fetch(request, env)).then(({ status }) => console.log('answered', status))
}
`
const HONO_CONNINFO = `export function getConnInfo({ env }) {
  console.log('asked by', env.incoming.socket.remoteAddress)
  return { remote: { address: env.incoming.socket.remoteAddress } }
}
`

let folder: string
beforeAll(async () => {
  // A project that has hookswitch installed, as its reader's has.
  const parent = join(ROOT, 'node_modules', '.readme')
  await mkdir(parent, { recursive: true })
  folder = await mkdtemp(join(parent, 'project-'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(ROOT, join(folder, 'node_modules', 'hookswitch'))
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}')
  const hono = join(folder, 'node_modules', '@hono', 'node-server')
  await mkdir(hono, { recursive: true })
  await writeFile(join(hono, 'index.js'), HONO_SERVER)
  await writeFile(join(hono, 'conninfo.js'), HONO_CONNINFO)
  const entries = { '.': './index.js', './conninfo': './conninfo.js' }
  await writeFile(join(hono, 'package.json'), JSON.stringify({ type: 'module', exports: entries }))
})
afterAll(() => rm(folder, { recursive: true }))

function run(
  file: string,
  argv: readonly string[],
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const { VITEST: _, NODE_OPTIONS: __, NODE_TEST_CONTEXT: ___, HOOKSWITCH_SECRET: ____, ...env } = process.env
  return new Promise((resolve) => {
    execFile(
      file,
      [...argv],
      { cwd: folder, env, timeout: 60_000, maxBuffer: 16_777_216 },
      (error, stdout, stderr) => resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr }),
    )
  })
}

describe('the programs of the README', () => {
  const programs = blocks('js').filter((text) => text.startsWith('import'))

  it('are all of its JavaScript', () => {
    expect(programs.length).toBe(blocks('js').length)
    expect(programs.length).toBeGreaterThan(8)
  })

  it.each(programs.map((text, index) => [index + 1, text] as const))(
    'number %i runs',
    async (number, text) => {
      const path = join(folder, `program-${number}.js`)
      // Servers of the README run for ever: this one ends when everything that it does at first has been done.
      const isSuite = text.includes("from 'node:test'")
      const end = isSuite
        ? ''
        : '\nawait globalThis.asked\nawait new Promise((resolve) => setImmediate(resolve))\nprocess.exit(0)\n'
      const anyPort = text.replace(/\b(listen\(|port: )\d+/g, (_, before) => `${before}0`)
      await writeFile(path, anyPort + end)
      const { code, stdout, stderr } = await run(process.execPath, [path])
      expect([code, stderr]).toEqual([0, ''])
      if (text.includes('hookswitch/kamailio')) {
        expect(stdout).toBe('channel_create alpha 1001@alpha.example 2001@alpha.example\n204\n')
      }
      if (text.includes("'hono'")) expect(stdout).toBe('asked by 192.0.2.1\nanswered 200\n')
    },
  )

  it('of the first five minutes find each other', async () => {
    const [receiver = '', service = ''] = programs
    const port = await freePort()
    const own = join(folder, 'five-minutes')
    await mkdir(own)
    const start = async (name: string, text: string) => {
      await writeFile(join(own, name), text.replace('listen(8000', 'listen(0').replace('9000', `${port}`))
      return spawn(process.execPath, [name], { cwd: own, stdio: ['ignore', 'pipe', 'inherit'] })
    }
    const first = await start('receiver.mjs', receiver)
    const heard = says(first.stdout, 'got channel_create of call')
    await says(first.stdout, 'waiting for calls')
    const second = await start('service.mjs', service)
    await Promise.all([heard, says(second.stdout, 'try 1 success 204')])
    for (const child of [first, second]) {
      child.kill()
      await once(child, 'close')
    }
  })
})

/** Resolves when the stream has said it; a test that waits in vain ends with its time. */
function says(stream: NodeJS.ReadableStream, words: string): Promise<void> {
  let said = ''
  return new Promise((resolve) => {
    stream.setEncoding('utf8').on('data', (text) => {
      said += text
      if (said.includes(words)) resolve()
    })
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

describe('the commands of the README', () => {
  const commands = blocks('sh').join('\n')

  it('name scripts of the package, files of it, and flags that there are', () => {
    const scripts = [...README.matchAll(/\bnpm (?:run )?(start|test|[a-z]+:?[a-z]*)\b/g)].map(
      ([, name]) => name!,
    )
    const own = scripts.filter((name) => !['ci', 'install', 'pack', 'run'].includes(name))
    expect(own).toContain('start')
    expect(own.filter((name) => !(name in PACKAGE.scripts))).toEqual([])
    expect(Object.keys(PACKAGE.bin)).toEqual(['hookswitch'])
    for (const [, file] of README.matchAll(/\bnode ([\w/.-]+\.js)\b/g)) {
      // What is built is there when the package is.
      expect(existsSync(join(ROOT, file!)), file).toBe(true)
    }
    const flags = [...commands.matchAll(/\bserve((?: --[a-z-]+(?: [\w.]+)?)+)/g)].flatMap(
      ([, all]) => all!.match(/--[a-z-]+/g)!,
    )
    expect(flags.length).toBeGreaterThan(3)
    for (const flag of flags) expect(SERVE_HELP).toContain(`${flag} `)
  })

  it('work when they are pasted', async () => {
    const [accounts = ''] = blocks('json')
    await writeFile(join(folder, 'accounts.json'), accounts)
    const argv = [
      join(ROOT, 'dist/bin.js'),
      'serve',
      '--accounts',
      'accounts.json',
      '--allow-local',
      '--ingest',
      '--port',
      '0',
    ]
    const service = spawn(process.execPath, argv, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] })
    const [line] = await once(service.stdout.setEncoding('utf8'), 'data')
    const curls = blocks('sh').find((text) => text.startsWith('API='))!
    const script = curls.replace('http://127.0.0.1:8000', JSON.parse(line).url)
    const { code, stdout } = await run('bash', ['-e', '-c', script])
    service.kill('SIGTERM')
    const [exit] = await once(service, 'close')
    expect([code, exit]).toEqual([0, 0])
    expect(stdout.match(/"status": ?"success"/g)).toHaveLength(5)
    expect(stdout).toMatch(/"secret":"whsec_/)
    expect(stdout).toMatch(/"delivery_id":/)
    expect(stdout).toMatch(/"event_ids":\["[0-9a-f]{32}"\]/)
  })
})

describe('what the README says', () => {
  it('leads nowhere that is not there', () => {
    const links = [...README.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target!)
    const files = links.filter((target) => !target.startsWith('#') && !target.startsWith('https:'))
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
    const headings = [...README.matchAll(/^#+ (.+)$/gm)].map(
      ([, text]) =>
        `#${text!
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replace(/ /g, '-')}`,
    )
    expect(links.filter((target) => target.startsWith('#') && !headings.includes(target))).toEqual([])
  })

  it('lists every option, with its default', () => {
    const source = readFileSync(join(ROOT, 'src/options.ts'), 'utf8')
    const [declared = ''] = source.match(/export interface HookswitchOptions[\s\S]*?^}/m) ?? []
    const names = [...declared.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name!)
    const rows = table('\n## Options')
    expect(rows.map(([name]) => code(name))).toEqual(expect.arrayContaining(names))
    expect(rows).toHaveLength(names.length)

    const said = new Map(rows.map(([name, byDefault]) => [code(name)!, code(byDefault)]))
    const settled = checkOptions({ store: memoryStore() }, undefined)
    for (const [name, value] of Object.entries(OPTION_DEFAULTS)) {
      expect([name, said.get(name)?.replace(/_/g, '')]).toEqual([name, String(value)])
    }
    expect(settled.defaultFormat).toBe(said.get('defaultFormat'))
    expect(settled.retryPolicy).toBe(POLICY_PRESETS[said.get('retryPolicy') as 'telephony'])
    expect([settled.cors, settled.trustProxy, settled.policies]).toEqual([[], [], {}])
  })

  it('lists every flag of the program', () => {
    const inHelp = [...SERVE_HELP.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag!)
    const rows = table('\n## As a program')
    expect(rows.map(([flag]) => code(flag)?.split(' ')[0])).toEqual(inHelp)
    for (const [flag, byDefault] of rows) {
      const [name] = code(flag)!.split(' ')
      const value = code(byDefault)
      if (value !== undefined) expect(SERVE_HELP).toMatch(new RegExp(`^ {2}${name} .*\\(${value}\\)$`, 'm'))
    }
  })

  it('lists every route, and which need a token', () => {
    const rows = table('\n### Routes').map(([method, path, does = '']) => ({
      method,
      path: code(path),
      token: !does.startsWith('○'),
    }))
    const routes = ROUTES.map(({ method, path, token }) => ({ method, path, token }))
    const name = (route: { method: string | undefined; path: string | undefined }) =>
      `${route.method} ${route.path}`
    const isOpen = (row: { path?: string | undefined }) => row.path !== '/webhooks'
    expect(rows.filter(isOpen).sort((a, b) => name(a).localeCompare(name(b)))).toEqual(
      routes.filter(isOpen).sort((a, b) => name(a).localeCompare(name(b))),
    )
  })

  it('lists every field of a webhook, with its default, and every kind of event', () => {
    const rows = table('\n### A webhook')
    expect(rows.map(([field]) => code(field))).toEqual(Object.keys(SETTING_NAMES))
    const defaults = new Map<string, unknown>(Object.entries(SETTINGS_DEFAULTS))
    for (const [field, byDefault] of rows) {
      const inside = SETTING_NAMES[code(field) as keyof typeof SETTING_NAMES]
      const required = ['name', 'uri', 'hook'].includes(inside)
      const expected = defaults.has(inside) ? `\`${defaults.get(inside)}\`` : required ? 'required' : 'none'
      expect([field, byDefault]).toEqual([field, expected])
    }
    const hooks = rows.find(([field]) => field === '`hook`')![2]!
    expect(sorted(hooks.match(/channel_\w+/g)!)).toEqual(sorted(catalogueOf().map(({ id }) => id)))
  })

  it('lists everything that a service offers, and every event that it tells', () => {
    const hs = createHookswitch({ store: memoryStore() })
    const verbs = (after: string) =>
      table(after).flatMap(([cell]) => codes(cell).map((text) => text.replace(/^hs\.|[.(].*/g, '')))
    for (const member of ['webhooks', 'accounts', 'auth'] as const) {
      expect(sorted(verbs(`| \`hs.${member}\` |`))).toEqual(sorted(Object.keys(hs[member])))
    }
    const members = Object.keys(hs).filter((name) => !['node', 'webhooks', 'accounts', 'auth'].includes(name))
    const named = verbs('| Member |').filter((name) => !['once', 'off'].includes(name))
    expect(sorted(named)).toEqual(sorted(members))

    const ends = Object.entries(LIFECYCLE).filter(([, steps]) => Object.keys(steps).length === 0)
    expect(sorted(table('| `hs.events` |').flatMap(([cell]) => codes(cell)))).toEqual(
      sorted([
        ...['event', 'event_refused', 'attempt', 'webhook_disabled'],
        ...catalogueOf().map(({ id }) => id),
        ...ends.map(([state]) => state),
      ]),
    )
  })

  it('lists every question to a directory, and every field of an account', () => {
    const source = (name: string) => readFileSync(join(ROOT, `src/accounts/${name}.ts`), 'utf8')
    const [directory = ''] = source('directory').match(/export interface Directory [\s\S]*?^}/m) ?? []
    const questions = [...directory.matchAll(/^ {2}(\w+)\??\(/gm)].map(([, name]) => name!)
    const rows = table('\n## Accounts of your own')
    expect(rows.map(([method]) => code(method)?.replace(/\(.*/, ''))).toEqual(questions)
    const [account = ''] = source('account').match(/export interface Account [\s\S]*?^}/m) ?? []
    const fields = [...account.matchAll(/^ {2}readonly (\w+\??):/gm)].map(([, name]) => name!)
    expect(README).toContain(`\`{ ${fields.join(', ')} }\``)
  })

  it('lists every field of an attempt and of a delivery', () => {
    const fields = (heading: string) => table(`\n### ${heading}`).flatMap(([cell]) => codes(cell))
    const attempt = attemptDoc({ method: 'POST', atMs: 0 } as never)
    expect(sorted(fields('An attempt'))).toEqual(sorted(Object.keys(attempt)))
    const delivery = deliveryDoc({ state: 'delivered' } as never, '')
    expect(sorted(fields('A delivery'))).toEqual(sorted(Object.keys(delivery)))
  })

  it('lists every entry point of the package', () => {
    const entries = Object.keys(PACKAGE.exports)
      .filter((name) => name !== './package.json')
      .map((name) => name.replace(/^\./, 'hookswitch'))
    expect(sorted(table('| Import |').map(([name]) => code(name)!))).toEqual(sorted(entries))
  })

  it('lists every metric, with its label and all values of it', () => {
    const rows = table('| Metric |').map(([name, label]) => [code(name), codes(label)])
    const shapes = Object.entries(METRICS) as [string, MetricShape][]
    expect(rows).toEqual(
      shapes.map(([name, { label, values }]) => [name, label ? [label, ...(values ?? [])] : []]),
    )
  })

  it('names the Node that package.json asks for', () => {
    expect(PACKAGE.engines.node).toBe('>=20.18.1')
    expect(README).toContain('Node 20.18.1 or newer')
  })
})
