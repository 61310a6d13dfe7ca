import {
  type BeforeApplicationShutdown,
  Global,
  Injectable,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common'
import { createHookswitch, memoryStore } from 'hookswitch'

@Injectable()
export class HookswitchService implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown {
  /** `memoryStore()` loses everything with the process: `sqliteStore` and `postgresStore` do not. */
  readonly hs = createHookswitch({
    store: memoryStore(),
    // Lets webhooks call this machine: for development only.
    allowLocal: process.env.ALLOW_LOCAL === '1',
  })

  async onModuleInit(): Promise<void> {
    await this.hs.start()
    // In place of your sign-up.
    await this.hs.accounts.ensure([
      {
        id: 'acme',
        name: 'Acme',
        realm: 'acme.example',
        users: [{ username: 'alice', password: 'wonderland' }],
      },
    ])
  }

  beforeApplicationShutdown(): void {
    this.hs.endStreams() // open streams would keep their connections
  }

  async onApplicationShutdown(): Promise<void> {
    await this.hs.close() // requests to receivers finish
  }
}

@Global()
@Module({ providers: [HookswitchService], exports: [HookswitchService] })
export class HookswitchModule {}
