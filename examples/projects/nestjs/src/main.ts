import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { expressMiddleware } from 'hookswitch/express'
import { AppModule } from './app.module.js'
import { HookswitchService } from './hookswitch.module.js'

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(AppModule)
  // Before `listen`, so that it comes before Nest's body parser. The API is at /telephony/v1.
  app.use('/telephony', expressMiddleware(app.get(HookswitchService).hs))
  app.enableShutdownHooks() // without it SIGTERM closes nothing
  await app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
}

void bootstrap()
