import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { runHere } from './harness.js'

const execute = promisify(execFile)

/** Returns what bash offers for a command line whose last word is being typed. */
async function completeInBash(line: string, folder = tmpdir()): Promise<readonly string[]> {
  const { stdout: script } = await runHere(['completion', 'bash'])
  const words = line.split(' ')
  const probe = `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_hookswitch
printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = await execute('bash', ['--norc', '-u', '-c', probe], { cwd: folder })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((word) => word !== '')
}

describe('the completion of bash', () => {
  it.each([
    ['hookswitch web', ['webhooks']],
    ['hookswitch s', ['serve']],
    ['hookswitch webhooks re', ['replace', 'resume', 'release', 'reenable']],
    ['hookswitch webhooks list --li', ['--limit']],
    ['hookswitch --json webhooks get some-id --acc', ['--account']],
    ['hookswitch webhooks list --url webhooks --lim', ['--limit']],
    ['hookswitch attempts list --result ', ['success', 'failure']],
    ['hookswitch attempts list --call ', []],
    ['hookswitch completion ', ['bash', 'zsh', 'fish']],
    ['hookswitch serve --asterisk', ['--asterisk-ami', '--asterisk-ari']],
    ['hookswitch migrate --un', ['--undo']],
    ['hookswitch rot', ['rotate-secret']],
    ['hookswitch rotate-secret --to', ['--to-file', '--to-variable']],
    ['hookswitch config ', ['print', 'check']],
    ['hookswitch config print --log', ['--login-burst', '--login-refill-per-second', '--log', '--log-level']],
    ['hookswitch help web', ['webhooks']],
    ['hookswitch serve --log ', ['json', 'pretty']],
    ['hookswitch serve --port ', []],
    ['hookswitch replay w --st', ['--state']],
    ['hookswitch replays ', ['list', 'show', 'pause', 'resume', 'cancel']],
    ['hookswitch replay w --state exp', ['expired']],
  ])('%s offers %j', async (line, expected) => {
    expect(
      (await completeInBash(line)).filter((word) => !(line.endsWith('completion ') && word[0] === '-')),
    ).toEqual(expected)
  })

  it('offers files where a file is expected', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'completion-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'events.ndjson'), '')
    expect(await completeInBash('hookswitch events publish ev', folder)).toEqual(['events.ndjson'])
    expect(await completeInBash('hookswitch webhooks create --data ev', folder)).toEqual(['events.ndjson'])
    expect(await completeInBash('hookswitch webhooks get ev', folder)).toEqual([])
    expect(await completeInBash('hookswitch serve --config ev', folder)).toEqual(['events.ndjson'])
    expect(await completeInBash('hookswitch config check ev', folder)).toEqual(['events.ndjson'])
    expect(await completeInBash('hookswitch rotate-secret --to-file ev', folder)).toEqual(['events.ndjson'])
  })
})

const SHELLS = {
  bash: {
    argv: ['--norc', '--noprofile', '-i'],
    init: 'PS1="> "; bind "set enable-bracketed-paste off"; hookswitch() { printf %s "$*" > ran; }',
  },
  zsh: {
    argv: ['-f', '-i'],
    init: 'PS1="> "; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D; hookswitch() { printf %s "$*" > ran }',
  },
  fish: {
    argv: ['--no-config', '-i'],
    init: 'function hookswitch; printf %s "$argv" > ran; end',
  },
} as const

const isInstalled = (shell: string) =>
  execute(shell, ['-c', 'exit 0']).then(
    () => true,
    () => false,
  )

/** Types lines with Tab and Enter into an interactive shell on a terminal; resolves to the arguments of each run of the program. */
async function typeInto(
  shell: keyof typeof SHELLS,
  lines: readonly string[],
  folder: string,
): Promise<readonly string[]> {
  const { argv, init } = SHELLS[shell]
  await writeFile(join(folder, 'completion'), (await runHere(['completion', shell])).stdout)
  const child = spawn('script', ['-q', '-f', '-c', [shell, ...argv].join(' '), '/dev/null'], {
    cwd: folder,
    env: {
      ...process.env,
      TERM: 'dumb',
      HOME: folder,
      XDG_CONFIG_HOME: folder,
      XDG_DATA_HOME: folder,
      HISTFILE: '',
    },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdout.resume()
  const contentOf = (name: string) => () => readFile(join(folder, name), 'utf8').catch(() => undefined)
  child.stdin.write(`${init}\n. ./completion\nprintf ready > set-up\n`)
  await expect.poll(contentOf('set-up')).toBe('ready')
  const runs: string[] = []
  for (const typed of lines) {
    child.stdin.write(`hookswitch ${typed}\t\n`)
    await expect.poll(contentOf('ran'), { message: typed }).toBeTruthy()
    runs.push((await contentOf('ran')())!.trim())
    await rm(join(folder, 'ran'))
  }
  const ended = once(child, 'close')
  child.stdin.end('exit\n')
  await ended
  return runs
}

/** What is typed before Tab → what the program then runs with. */
const COMPLETED = {
  rot: 'rotate-secret',
  'webhooks rep': 'webhooks replace',
  'webhooks list --lim': 'webhooks list --limit',
  '--json webhooks get some-id --acc': '--json webhooks get some-id --account',
  'attempts list --result s': 'attempts list --result success',
  'serve --log p': 'serve --log pretty',
  'config c': 'config check',
  'config check even': 'config check events.ndjson',
  'events publish even': 'events publish events.ndjson',
  'webhooks create --data even': 'webhooks create --data events.ndjson',
  'webhooks get even': 'webhooks get even',
}

describe.each(['bash', 'zsh', 'fish'] as const)('the completion in an interactive %s', (shell) => {
  it('completes commands, flags, values and files', async () => {
    if (!(await isInstalled(shell))) {
      process.stderr.write(`\n*** ${shell} is not installed: its completion was NOT checked ***\n`)
      // CI installs all three.
      expect(process.env.CI, `${shell} is missing in CI`).toBeFalsy()
      return
    }
    const folder = await mkdtemp(join(tmpdir(), 'completion-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'events.ndjson'), '')
    expect(await typeInto(shell, Object.keys(COMPLETED), folder)).toEqual(Object.values(COMPLETED))
  })
})

describe('the completion of fish', () => {
  it.each([
    ['hookswitch webhooks re', ['reenable', 'release', 'replace', 'resume']],
    ['hookswitch attempts list --result ', ['failure', 'success']],
    ['hookswitch rotate-secret --to', ['--to-file', '--to-variable']],
    ['hookswitch config ', ['check', 'print']],
    ['hookswitch help we', ['webhooks']],
  ])('%s offers %j', async (line, expected) => {
    const isInstalled = await execute('fish', ['-c', 'exit 0']).then(
      () => true,
      () => false,
    )
    // The next tests say loudly what was not checked.
    if (!isInstalled) return
    const { stdout: script } = await runHere(['completion', 'fish'])
    const { stdout } = await execute('fish', ['--no-config', '-c', `${script}\ncomplete -C '${line}'`])
    const words = stdout.split('\n').filter((word) => word !== '')
    expect(words.map((word) => word.split('\t')[0])).toEqual(expected)
  })
})

describe.each(['zsh', 'fish'] as const)('the completion of %s', (shell) => {
  let isInstalled = false
  beforeAll(async () => {
    isInstalled = await execute(shell, ['-c', 'exit 0']).then(
      () => true,
      () => false,
    )
  })

  it('names every command and every flag with its description', async () => {
    const { stdout } = await runHere(['completion', shell])
    const { stdout: bash } = await runHere(['completion', 'bash'])
    const flags = new Set(bash.match(/--[a-z-]+/g))
    expect(flags.size).toBeGreaterThan(40)
    for (const flag of flags) {
      expect(stdout).toContain(shell === 'fish' ? `-l ${flag.slice(2)} ` : flag)
    }
    for (const word of ['webhooks', 'attempts', 'tail', 'verify', 'completion'])
      expect(stdout).toContain(word)
    expect(stdout).toContain('list the webhooks of the account')
  })

  it('is accepted by the shell', async (context) => {
    if (!isInstalled) {
      process.stderr.write(`\n*** ${shell} is not installed: its completion was NOT checked ***\n`)
      return context.skip()
    }
    const { stdout } = await runHere(['completion', shell])
    const { stderr } = await execute(shell, ['-n', '-c', stdout])
    expect(stderr).toBe('')
  })
})
