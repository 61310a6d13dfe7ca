import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { MIGRATE_HELP, ROTATE_SECRET_HELP, SERVE_HELP, VACUUM_HELP } from '../../adapters/cli/help.js'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { freePort } from '../adapters/telephony/free-port.js'
import { anchors, blocks, isQuoted, links, PAGES, ROOT, read } from './pages.js'
import { createProject, inPairs, type Project, type RunResult, readerEnvironment, run } from './project.js'

const PACKAGE = JSON.parse(read('package.json'))

let project: Project
beforeAll(async () => {
  project = await createProject()
})
afterAll(() => project.remove())

/** Programs that print something to rely on. */
const OUTPUT: Readonly<Record<string, string | RegExp>> = {
  "'hono'": 'asked by 192.0.2.1\nanswered 200\n',
  'hookswitch/kamailio': 'channel_create alpha 1001@alpha.example 2001@alpha.example\n204\n',
  'hs.handle(': '200 35\n',
  'hookswitch/postgres': /^committed [0-9a-f]{32}\n$/,
  'holderOfApiKey:': 'signed in: Acme\nInvalidCredentials\n',
  device_rebooted: "1 { model: 'T46' }\ndata.uptimeSeconds\n",
  "'nobody'": "1\naccount 'nobody' does not exist\n",
  'hookswitch/blackhole':
    '{"action":"reply","request_id":"1","status":"success","data":{"subscribed":["call.*.*"]}}\nCHANNEL_CREATE call.acme.CHANNEL_CREATE.a84b4c76\n',
  'hookswitch/client':
    'created Calls\nlisted Calls\nrefused 400 validation error uri\nrenamed at revision 2\n',
}

/** Its ports may be taken: those that the program itself calls are replaced by free ones, others by any. */
async function withFreePorts(text: string): Promise<string> {
  const called = new Set([...text.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => port!))
  let result = text.replace(/\b(listen\(|port: )(\d+)/g, (whole, before, port) =>
    called.has(port) ? whole : `${before}0`,
  )
  for (const port of called) result = result.replaceAll(port, String(await freePort('tcp')))
  return result
}

interface Program {
  readonly name: string
  readonly text: string
}

/** Blocks that are not quoted from an example: each must be a whole program. */
const programs: readonly Program[] = PAGES.flatMap((page) =>
  blocks(page, 'js')
    .filter((text) => !isQuoted(text))
    .map((text, index) => ({ name: `${page} ${index + 1}`, text })),
)

const HELP: Readonly<Record<string, string>> = {
  serve: SERVE_HELP,
  migrate: MIGRATE_HELP,
  'rotate-secret': ROTATE_SECRET_HELP,
  vacuum: VACUUM_HELP,
}

describe('JavaScript in the documentation', () => {
  const databases = postgresForTests()
  let results: readonly Promise<RunResult | undefined>[]
  beforeAll(() => {
    results = inPairs(programs.map((program, index) => () => runProgram(program, index)))
  })
  afterAll(async () => (await databases)?.end())

  async function runProgram({ text }: Program, index: number): Promise<RunResult | undefined> {
    const database = text.includes('DATABASE_URL') ? await databases : undefined
    if (text.includes('DATABASE_URL') && database === undefined) return undefined
    const folder = await project.subfolder(`program-${index}`)
    // A server would run forever: the program ends when everything that it does at first is done.
    const isSuite = text.includes("from 'node:test'")
    const end = isSuite
      ? ''
      : '\nawait globalThis.pending\nawait new Promise((resolve) => setImmediate(resolve))\nprocess.exit(0)\n'
    await writeFile(join(folder, 'program.js'), (await withFreePorts(text)) + end)
    const env = readerEnvironment(database ? { DATABASE_URL: database.url } : {})
    return run(process.execPath, ['program.js'], folder, env)
  }

  it('is whole programs and quotations of examples', () => {
    expect(programs.filter(({ text }) => !text.startsWith('import ')).map(({ name }) => name)).toEqual([])
    expect(programs.length).toBeGreaterThan(20)
  })

  it.each(programs.map(({ name, text }, index) => [name, text, index] as const))(
    '%s runs',
    async (_, text, index) => {
      const result = await results[index]
      // Without PostgreSQL: that is reported where the server is looked for.
      if (result === undefined) return
      expect([result.code, result.stderr]).toEqual([0, ''])
      for (const [part, output] of Object.entries(OUTPUT)) {
        if (!text.includes(part)) continue
        if (typeof output === 'string') expect(result.stdout).toBe(output)
        else expect(result.stdout).toMatch(output)
      }
    },
  )

  it('prints what is relied on', () => {
    for (const part of Object.keys(OUTPUT))
      expect(
        programs.filter(({ text }) => text.includes(part)),
        part,
      ).toHaveLength(1)
  })
})

describe('TypeScript in the documentation', () => {
  it('is quoted from examples/projects, or a whole program: `npm run projects` compiles both', () => {
    const all = PAGES.flatMap((page) => blocks(page, 'ts').map((text) => ({ page, text })))
    const others = all.filter(({ text }) => !isQuoted(text, 'ts'))
    expect(others.length).toBeLessThan(all.length)
    expect(others.filter(({ text }) => !text.startsWith('import '))).toEqual([])
  })
})

describe('commands in the documentation', () => {
  const scripts = PAGES.flatMap((page) => blocks(page, 'sh').map((text) => ({ page, text })))

  it('are valid shell', async () => {
    const checks = inPairs(
      scripts.map(
        ({ text }) =>
          () =>
            run('bash', ['-n', '-c', text], ROOT),
      ),
    )
    for (const [index, { page }] of scripts.entries()) {
      const { code, stderr } = await checks[index]!
      expect([page, code, stderr]).toEqual([page, 0, ''])
    }
  })

  it('name scripts and files of the package', () => {
    const own = ['ci', 'install', 'pack', 'run', 'init', 'cache', 'version']
    for (const page of [...PAGES, 'CONTRIBUTING.md', 'examples/demo/README.md']) {
      const names = [...read(page).matchAll(/\bnpm (?:run )?([a-z]+:?[a-z]*)\b/g)].map(([, name]) => name!)
      expect([page, names.filter((name) => !own.includes(name) && !(name in PACKAGE.scripts))]).toEqual([
        page,
        [],
      ])
      for (const [, file] of read(page).matchAll(/\bnode ((?:examples|dist|test)\/[\w/.-]+\.js)\b/g)) {
        expect([page, file, existsSync(join(ROOT, file!))]).toEqual([page, file, true])
      }
    }
    expect(read('README.md')).toContain('npm start')
    expect(Object.keys(PACKAGE.bin)).toEqual(['hookswitch'])
  })

  it('use flags that exist', () => {
    let count = 0
    for (const page of PAGES) {
      const texts = ['sh', 'ini', 'dockerfile'].flatMap((language) => blocks(page, language))
      for (const [, command, line] of texts
        .join('\n')
        .replaceAll('\\\n', ' ')
        .replace(/"(serve)", (.*)\]/g, (_, serve, rest) => `hookswitch ${serve} ${rest.replace(/[",]/g, '')}`)
        .matchAll(/(?:hookswitch|bin\.js) (serve|migrate|rotate-secret|vacuum)( .*)?$/gm)) {
        const help = HELP[command!]!
        for (const flag of line?.match(/--[a-z-]+/g) ?? []) {
          const isListed = help.includes(`\n  ${flag} `) || help.replace(/\s+/g, ' ').includes(`also ${flag}`)
          expect([page, flag, isListed]).toEqual([page, flag, true])
          count += 1
        }
      }
    }
    expect(count).toBeGreaterThan(20)
  })

  it('work when they are pasted: getting started, paging, the runbook and erasure', async () => {
    const folder = await project.subfolder('service')
    const [accounts = ''] = blocks('docs/getting-started.md', 'json')
    await writeFile(join(folder, 'accounts.json'), accounts)
    const bin = join(ROOT, PACKAGE.bin.hookswitch)
    const flags = [
      '--accounts',
      'accounts.json',
      '--operator',
      'acme',
      '--allow-local',
      '--ingest',
      '--port',
      '0',
    ]
    const service = spawn(process.execPath, [bin, 'serve', ...flags], {
      cwd: folder,
      env: readerEnvironment(),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [line] = await once(service.stdout.setEncoding('utf8'), 'data')
    const first = blocks('docs/getting-started.md', 'sh').find((text) => text.startsWith('API='))!
    const script = `${first.replace('http://127.0.0.1:8000', JSON.parse(line).url)}
echo "LATER=$API $TOKEN $HOOK"`
    const { code, stdout } = await run('bash', ['-e', '-c', script], folder)
    expect(code).toBe(0)
    expect(stdout.match(/"status": ?"success"/g)).toHaveLength(5)
    expect(stdout).toMatch(/"secret":"whsec_/)
    expect(stdout).toMatch(/"delivery_id":/)
    expect(stdout).toMatch(/"event_ids":\["[0-9a-f]{32}"\]/)

    const [, API = '', TOKEN = '', HOOK = ''] = /^LATER=(\S+) (\S+) (\S+)$/m.exec(stdout) ?? []
    const env = readerEnvironment({ API, TOKEN, HOOK, ACCOUNT: 'acme' })
    const paging = blocks('docs/http/paging.md', 'sh')
    const requests = paging.join('').match(/\bcurl\b/g) ?? []
    expect(requests.length).toBeGreaterThan(0)
    const later = await run('bash', ['-e', '-c', paging.join('echo\n')], folder, env)
    expect(later.code).toBe(0)
    expect(later.stdout.match(/"status": ?"success"/g)).toHaveLength(requests.length)

    const runbook = blocks('docs/operate/runbook.md', 'sh').concat(blocks('docs/operate/erasure.md', 'sh'))
    expect(runbook.join('').match(/\bhookswitch\b/g)!.length).toBeGreaterThan(10)
    const program = `hookswitch() { "${process.execPath}" "${bin}" "$@"; }\n`
    const commands = await run('bash', ['-e', '-c', program + runbook.join('')], folder, {
      ...readerEnvironment({ HOOK, ACCOUNT: 'acme' }),
      HOOKSWITCH_URL: API.replace(/\/v1$/, ''),
      HOOKSWITCH_API_KEY: 'acme-key-00000000000000000000000000000000',
    })
    // Of the number that the runbook looks for there is no call.
    const nothing =
      'hookswitch: nothing is stored of it: no such event was accepted lately, or its records were removed\n'
    expect([commands.code, commands.stderr]).toEqual([0, nothing])

    service.kill('SIGTERM')
    expect((await once(service, 'close'))[0]).toBe(0)
  })

  it('work when they are pasted: the commands for a running service', { timeout: 180_000 }, async () => {
    const folder = await project.subfolder('commands')
    const key = 'acme-key-00000000000000000000000000000000'
    const accounts = [{ id: 'acme', name: 'Acme', realm: 'acme.example', apiKey: key }]
    await writeFile(join(folder, 'accounts.json'), JSON.stringify(accounts))
    const bin = join(ROOT, PACKAGE.bin.hookswitch)
    const flags = [
      '--memory',
      '--accounts',
      'accounts.json',
      '--operator',
      'acme',
      '--allow-local',
      '--ingest',
      '--port',
      '0',
    ]
    const service = spawn(process.execPath, [bin, 'serve', ...flags], {
      cwd: folder,
      env: readerEnvironment(),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => void service.kill('SIGKILL'))
    const [line] = await once(service.stdout.setEncoding('utf8'), 'data')
    const [login = '', ...scripts] = blocks('docs/operate/commands.md', 'sh')
    expect(login).toContain('http://127.0.0.1:8000')
    const program = `hookswitch() { "${process.execPath}" "${bin}" "$@"; }\n`
    const receiverPort = String(await freePort('tcp'))
    const script = [program, login, ...scripts]
      .join('\n')
      .replaceAll('http://127.0.0.1:8000', JSON.parse(line).url)
      .replaceAll('9000', receiverPort)
    const { code, stdout, stderr } = await run('bash', ['-e', '-o', 'pipefail', '-c', script], folder)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^valid: [0-9a-f]{32}$/m)
    expect(stdout).toMatch(/^[0-9a-f]{32}\t(running|completed)\t\d\t[12]\t/m)
  })
})

describe('other blocks of the documentation', () => {
  const KNOWN = ['js', 'ts', 'sh', 'json', 'text', 'xml', 'ini', 'nginx', 'yaml', 'dockerfile', 'sql'].concat(
    ...['python', 'php', 'ruby', 'go', 'java', 'csharp'],
  )

  it('have a language, and none that no test knows', () => {
    for (const page of PAGES) {
      const fences = [...read(page).matchAll(/^```(\S*)$/gm)].map(([, language]) => language!)
      const opened = fences.filter((_, index) => index % 2 === 0)
      expect([page, fences.length % 2, opened.filter((language) => !KNOWN.includes(language))]).toEqual([
        page,
        0,
        [],
      ])
    }
  })

  it('are valid JSON', () => {
    for (const page of PAGES) {
      for (const text of blocks(page, 'json')) expect(JSON.parse(text), page).toBeTypeOf('object')
    }
  })
})

describe('links in the documentation', () => {
  const OWN = /^https:\/\/github\.com\/hookswitch\/hookswitch\/(?:blob|tree)\/main\/([^#]+)(?:#(.+))?$/
  const shipped: readonly string[] = PACKAGE.files
  const isShipped = (path: string) =>
    shipped.some((entry) => path === entry || path.startsWith(`${entry}/`)) && path !== 'dist'

  /** What is wrong with a link; `undefined` for one that leads somewhere. */
  function problemOf(page: string, link: string): string | undefined {
    const own = OWN.exec(link)
    if (own) {
      const [, file, heading] = own
      if (!existsSync(join(ROOT, file!))) return 'no such file in the repository'
      return heading === undefined || anchors(file!).has(heading)
        ? undefined
        : 'no such heading in the repository'
    }
    if (/^[a-z]+:/.test(link)) return link.startsWith('https:') ? undefined : 'not https'
    const [target = '', anchor] = link.split('#')
    const path = target === '' ? page : normalize(join(dirname(page), target))
    if (!existsSync(join(ROOT, path))) return 'no such file'
    // npm shows pictures of the repository.
    if (isShipped(page) && !isShipped(path) && !path.endsWith('.webp')) return 'not in the package'
    return anchor === undefined || anchors(path).has(anchor) ? undefined : 'no such heading'
  }

  it('lead to headings and files that exist, and from pages of the package to files of the package', () => {
    const others = [
      'CONTRIBUTING.md',
      'SECURITY.md',
      'CODE_OF_CONDUCT.md',
      'examples/demo/README.md',
      'src/testkit/README.md',
    ]
    for (const page of [...PAGES, ...others]) {
      for (const link of links(page))
        expect([page, link, problemOf(page, link)]).toEqual([page, link, undefined])
    }
    expect(PAGES.flatMap(links).length).toBeGreaterThan(200)
  })

  it('lead from the index to every page', () => {
    const indexed = new Set(
      links('docs/README.md').map((link) => normalize(join('docs', link.split('#')[0]!))),
    )
    const pages = PAGES.filter((page) => !page.startsWith('docs/decisions/') && page !== 'docs/README.md')
    expect(pages.filter((page) => !indexed.has(page))).toEqual([])
  })
})
