// Debian's Python, which has Scrapy.
import { whyMissing } from '../support/debian.ts'

export const PYTHON = '/usr/bin/python3'

/** Why Scrapy is missing; empty when it is installed. */
export const noScrapy: string = whyMissing('python3-scrapy', 'python3-redis')
