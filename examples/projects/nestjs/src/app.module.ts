import { Body, Controller, HttpCode, Module, Post } from '@nestjs/common'
import { HookswitchModule, HookswitchService } from './hookswitch.module.js'

/** In place of the code that learns of your calls. */
@Controller('calls')
class CallsController {
  constructor(private readonly hookswitch: HookswitchService) {}

  @Post()
  @HttpCode(202)
  async create(@Body() { callId, from, to }: { callId: string; from: string; to: string }) {
    const call = { accountId: 'acme', callId, direction: 'inbound', from, to } as const
    const { eventId } = await this.hookswitch.hs.publish({ hook: 'channel_create', ...call })
    return { eventId }
  }
}

@Module({ imports: [HookswitchModule], controllers: [CallsController] })
export class AppModule {}
