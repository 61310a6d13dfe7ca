import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blocks, read } from './pages.js'
import { createProject } from './project.js'

const PACKAGE = JSON.parse(read('package.json'))

describe('README.md', () => {
  it('has at most 250 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(250)
  })

  it('names the version of Node that package.json requires, as the page for the first hour does', () => {
    const [, version] = /^>=(\d+\.\d+\.\d+)$/.exec(PACKAGE.engines.node) ?? []
    expect(read('README.md')).toContain(`Node ${version} or newer`)
    expect(read('docs/getting-started.md').replace(/\s+/g, ' ')).toContain(`Node ${version} or newer`)
  })

  it('has a receiver and a service that work together', async () => {
    const [receiver = '', service = ''] = blocks('README.md', 'js')
    const project = await createProject()
    const folder = await project.subfolder('five-minutes')
    const port = await freePort()
    const start = async (name: string, text: string) => {
      await writeFile(join(folder, name), text.replace('listen(8000', 'listen(0').replace('9000', `${port}`))
      return spawn(process.execPath, [name], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
    }
    const first = await start('receiver.mjs', receiver)
    const received = printed(first.stdout, 'got channel_create of call')
    await printed(first.stdout, 'waiting for calls')
    const second = await start('service.mjs', service)
    await Promise.all([received, printed(second.stdout, 'attempt 1 success 204')])
    for (const child of [first, second]) {
      child.kill()
      await once(child, 'close')
    }
    await project.remove()
  })
})

/** Resolves when the stream has printed the words; if it never does, the test times out. */
function printed(stream: NodeJS.ReadableStream, words: string): Promise<void> {
  let output = ''
  return new Promise((resolve) => {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
      if (output.includes(words)) resolve()
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
