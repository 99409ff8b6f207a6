import { describe, expect, it } from '@jest/globals';
import { pageOf } from './page-of.js';

describe('a page of the console', () => {
  it('is another one for each vehicle and geofence, which share a path', () => {
    const pages = ['', '?deviceId=van-1', '?deviceId=van-2', '?geofence=van-1', '?geofence=new'].map((search) =>
      pageOf('/vehicles', search),
    );
    expect(new Set(pages).size).toBe(5);
    expect(pageOf('/vehicles', 'deviceId=van-1&hours=6')).toBe(pages[1]);
  });

  it('is the same whatever a list is filtered by', () => {
    expect(pageOf('/deliveries', '?deviceId=van-1')).toBe(pageOf('/deliveries', ''));
    expect(pageOf('/deliveries/x', '')).not.toBe(pageOf('/deliveries', ''));
  });
});
