import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readSettings } from '../../adapters/cli/read-settings.js'
import { COMPOSE_SCHEMA } from './compose-schema.js'
import { copiedFiles, ROOT, read, readStages, readYaml, valuesOf } from './files.js'

const stages = readStages('docker/Dockerfile')
const [build, final] = stages as [(typeof stages)[0], (typeof stages)[0]]
const copies = copiedFiles(build)

describe('the Dockerfile', () => {
  it('builds in one stage and runs in another, as an ordinary user, under an init', () => {
    expect(stages).toHaveLength(2)
    expect(valuesOf(final, 'USER')).toEqual(['node'])
    expect(final.findLastIndex(({ name }) => name === 'RUN')).toBeLessThan(
      final.findIndex(({ name }) => name === 'USER'),
    )
    const [init, separator, node, memoryFlag, bin] = JSON.parse(valuesOf(final, 'ENTRYPOINT')[0]!)
    expect([init, separator, node]).toEqual(['/usr/bin/tini', '--', 'node'])
    expect(memoryFlag).toBe('--optimize-for-size')
    expect(bin).toBe(`${valuesOf(final, 'WORKDIR')[0]}/node_modules/hookswitch/dist/bin.js`)
    expect(valuesOf(final, 'RUN').join(' ')).toMatch(/apt-get install [^&]*\btini\b/)
  })

  it('starts with flags that exist, and stores data in its volume', async () => {
    const [command, ...flags] = JSON.parse(valuesOf(final, 'CMD')[0]!) as string[]
    expect(command).toBe('serve')
    const { host, port, data, adminPort } = (await readSettings(flags, {})).values
    expect(host).toBe('0.0.0.0')
    expect(valuesOf(final, 'EXPOSE')).toEqual([String(port)])
    expect(data?.startsWith(`${valuesOf(final, 'VOLUME')[0]}/`)).toBe(true)
    expect(valuesOf(final, 'HEALTHCHECK')[0]).toContain(`127.0.0.1:${adminPort}/readyz`)
  })

  it('has a health check that fails until the service is ready', async () => {
    const [, script] = /CMD \["node", "-e", "(.*)"\]/.exec(valuesOf(final, 'HEALTHCHECK')[0]!)!
    let status = 503
    const server = createServer((_, response) => response.writeHead(status).end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close().closeAllConnections())
    const { port } = server.address() as { port: number }
    const check = async (at: number) => {
      const child = spawn(process.execPath, ['-e', script!.replace('9000', String(at))])
      return (await once(child, 'exit'))[0]
    }
    expect(await check(port)).toBe(1)
    status = 200
    expect(await check(port)).toBe(0)
    server.close().closeAllConnections()
    expect(await check(port)).toBe(1)
  })

  it('copies files that exist and that .dockerignore lets through', () => {
    const allowed = read('docker/Dockerfile.dockerignore').split('\n')
    expect(allowed[0]).toBe('*')
    for (const { source } of copies) {
      expect([source, existsSync(join(ROOT, source))]).toEqual([source, true])
      expect(allowed).toContain(`!${source}`)
    }
  })
})

describe('compose.yaml', () => {
  interface Service {
    readonly image: string
    readonly command?: readonly string[]
    readonly volumes?: readonly string[]
    readonly networks: readonly string[] | Readonly<Record<string, { readonly aliases: readonly string[] }>>
    readonly stop_grace_period?: string
    readonly environment?: Readonly<Record<string, string>>
  }
  const compose = readYaml('docker/compose.yaml') as {
    readonly services: Readonly<Record<string, Service>>
    readonly networks: Readonly<
      Record<string, { readonly ipam: { readonly config: readonly { readonly subnet: string }[] } }>
    >
    readonly volumes: object
  }

  it('is a valid compose file', () => {
    const validate = new Ajv({ strict: false }).compile(COMPOSE_SCHEMA)
    expect(validate(compose) || validate.errors).toBe(true)
    expect(validate({ ...compose, services: { x: { image: 'x', comand: [] } } })).toBe(false)
  })

  it('starts both nodes alike, with flags that exist and time to drain', async () => {
    const { 'node-1': firstNode, 'node-2': secondNode } = compose.services
    expect(firstNode).toEqual(secondNode)
    const [command, ...flags] = firstNode!.command!
    expect(command).toBe('serve')
    const { trustProxy, accounts } = (await readSettings(flags, {})).values
    expect(trustProxy).toEqual([compose.networks.inside!.ipam.config[0]!.subnet])
    expect(firstNode!.volumes).toEqual([`\${ACCOUNTS_FILE:?}:${accounts}:ro`])
    expect(firstNode!.stop_grace_period).toBe('15s')
  })

  it('uses variables that compose.env.example names, and no others', () => {
    const used = new Set([...read('docker/compose.yaml').matchAll(/\$\{(\w+):\?\}/g)].map(([, name]) => name))
    const given = [...read('docker/compose.env.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name)
    expect([...used].sort()).toEqual(given.sort())
    expect(read('docker/compose.yaml').match(/\$\{(?!\w+:\?\})/g)).toBe(null)
  })

  it('refers to networks, volumes, services and files that exist', () => {
    const { services, networks, volumes } = compose
    for (const service of Object.values(services)) {
      const names = Array.isArray(service.networks) ? service.networks : Object.keys(service.networks)
      for (const network of names) expect(networks).toHaveProperty(network)
      for (const volume of service.volumes ?? []) {
        const [source] = volume.split(':') as [string]
        if (source.startsWith('.')) expect(existsSync(join(ROOT, 'deploy/docker', source))).toBe(true)
        else if (!source.startsWith('$')) expect(volumes).toHaveProperty(source)
      }
    }
    const [, name] = /set \$nodes ([\w-]+):8000;/.exec(read('docker/nginx.conf'))!
    for (const node of ['node-1', 'node-2'])
      expect(services[node]!.networks).toEqual({ inside: { aliases: [name] } })
  })
})
