/** SIGTERM reaches the service in every way in which the documents start it, and an orphan says what it is. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const FLAGS = ['serve', '--memory', '--port', '0', '--log', 'json']

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A folder in which hookswitch is installed, as npm would do it. */
async function installation(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'signals-'))
  cleanups.push(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'node_modules', '.bin'), { recursive: true })
  await symlink(ROOT, join(folder, 'node_modules', 'hookswitch'))
  await symlink(
    join('..', 'hookswitch', 'dist', 'bin.js'),
    join(folder, 'node_modules', '.bin', 'hookswitch'),
  )
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  return folder
}

const exists = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Starts a command with the log in a file, and resolves when the service listens. */
async function start(command: string, argv: readonly string[], folder: string, env: object = {}) {
  const log = join(folder, 'log')
  const shell = `exec "$0" "$@" 2>> '${log}'`
  const child = spawn('sh', ['-c', shell, command, ...argv], {
    cwd: folder,
    env: { ...withoutNpm(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  cleanups.push(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  await expect
    .poll(() => {
      if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}`)
      return output
    })
    .toContain('"ready":true')
  return { child, ended, url: JSON.parse(output).url as string, readLog: () => readFile(log, 'utf8') }
}

/** The test runner itself may have been started by npm. */
function withoutNpm(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
}

describe('SIGTERM', () => {
  it.each([
    ['the installed program', 'node_modules/.bin/hookswitch', []],
    ['its file, as in the unit of systemd', process.execPath, ['node_modules/hookswitch/dist/bin.js']],
  ])('drains %s', async (_, command, argv) => {
    const folder = await installation()
    const { child, ended, readLog } = await start(command, [...argv, ...FLAGS], folder)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(await readLog()).toMatch(/"message":"drained and closed"/)
    expect(await readLog()).not.toMatch(/"the process that started this one/)
  })

  it('drains it as process 1 of a container would pass the signal on', async () => {
    const folder = await installation()
    // What tini does: it starts the program, passes signals on, and ends with its code.
    const init = `
      const { spawn } = require('node:child_process')
      const [file, ...argv] = process.argv.slice(1)
      const child = spawn(file, argv, { stdio: 'inherit' })
      process.on('SIGTERM', () => child.kill('SIGTERM'))
      child.on('exit', (code) => process.exit(code ?? 1))`
    const bin = join(folder, 'node_modules', 'hookswitch', 'dist', 'bin.js')
    const argv = ['-e', init, '--', process.execPath, bin, ...FLAGS]
    const { child, ended, readLog } = await start(process.execPath, argv, folder)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(await readLog()).toMatch(/"message":"drained and closed"/)
  })
})

it('ends a start that waits for its store', async () => {
  const silent = createServer()
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  cleanups.push(() => silent.close())
  const connected = once(silent, 'connection')
  const { port } = silent.address() as AddressInfo
  const bin = join(await installation(), 'node_modules', '.bin', 'hookswitch')
  const argv = ['serve', '--postgres', `postgres://hookswitch@127.0.0.1:${port}/hookswitch`, '--port', '0']
  const env = { ...withoutNpm(), HOOKSWITCH_SECRET: 'a'.repeat(64) }
  const child = spawn(process.execPath, [bin, ...argv], { stdio: 'ignore', env })
  cleanups.push(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const [socket] = await connected
  cleanups.push(() => socket.destroy())
  child.kill('SIGTERM')
  expect(await ended).toEqual([128 + 15, null])
})

describe('a service whose parent has ended', () => {
  /** Starts the service below a parent that dies of SIGTERM without passing it on, like the shell of npx. */
  async function orphan(env: object, stdout: 'pipe' | 'file') {
    const folder = await installation()
    const parent = `
      const { spawn } = require('node:child_process')
      const child = spawn(process.argv[1], process.argv.slice(2), {
        stdio: ['ignore', ${stdout === 'pipe' ? "'inherit'" : "require('node:fs').openSync('output', 'a')"}, 'inherit'],
      })
      require('node:fs').writeFileSync('pid', String(child.pid))
      ${
        stdout === 'pipe'
          ? ''
          : `const timer = setInterval(() => {
        const text = require('node:fs').readFileSync('output', 'utf8')
        if (!text.endsWith('\\n')) return
        clearInterval(timer)
        process.stdout.write(text)
      }, 50)`
      }`
    const bin = join(folder, 'node_modules', '.bin', 'hookswitch')
    const started = await start(process.execPath, ['-e', parent, '--', bin, ...FLAGS], folder, env)
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'))
    cleanups.push(() => exists(pid) && process.kill(pid, 'SIGKILL'))
    started.child.kill('SIGTERM')
    await started.ended
    return { ...started, pid }
  }

  it.each([
    ['under npm', { npm_execpath: '/usr/lib/npm-cli.js' }, 'npm', 'file'],
    ['on a pipe', {}, 'a pipe', 'pipe'],
  ] as const)('says so %s, goes on, and still drains', async (_, env, startedBy, stdout) => {
    const { url, readLog, pid } = await orphan(env, stdout)
    await expect.poll(readLog).toContain('the process that started this one has ended')
    const lines = (await readLog()).trim().split('\n')
    const warnings = lines
      .map((line) => JSON.parse(line))
      .filter(({ message }) => /started this one/.test(message))
    expect(warnings).toMatchObject([{ level: 'warn', pid, startedBy }])
    expect((await fetch(`${url}/v1/webhooks`)).status).toBe(200)
    process.kill(pid, 'SIGTERM')
    await expect.poll(() => exists(pid)).toBe(false)
    expect(await readLog()).toMatch(/"message":"drained and closed"/)
  })
})
