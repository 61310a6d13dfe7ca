import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
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
  const { stdout, stderr } = await execute('bash', ['-u', '-c', probe], { cwd: folder })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((word) => word !== '')
}

describe('the completion of bash', () => {
  it.each([
    ['hookswitch web', ['webhooks']],
    ['hookswitch s', ['serve']],
    ['hookswitch webhooks re', ['replace', 'resume', 'reenable']],
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

describe('the completion of fish', () => {
  it.each([
    ['hookswitch webhooks re', ['reenable', 'replace', 'resume']],
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
    const words = stdout.split('\n').filter((one) => one !== '')
    expect(words.map((one) => one.split('\t')[0])).toEqual(expected)
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
